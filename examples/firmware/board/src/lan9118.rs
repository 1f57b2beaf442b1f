//! A driver for the LAN9118 Ethernet controller, as far as smoltcp needs one: whole frames through
//! its FIFOs, by polling. The names are those of its data sheet.

use core::ptr;

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

/// The address of the controller on the mps2-an385.
const BASE: usize = 0x4020_0000;

const RX_DATA_FIFO: usize = 0x00;
const TX_DATA_FIFO: usize = 0x20;
const RX_STATUS_FIFO: usize = 0x40;
const BYTE_TEST: usize = 0x64;
const TX_CFG: usize = 0x70;
const HW_CFG: usize = 0x74;
const RX_FIFO_INF: usize = 0x7C;
const TX_FIFO_INF: usize = 0x80;
const MAC_CSR_CMD: usize = 0xA4;
const MAC_CSR_DATA: usize = 0xA8;

// Registers behind MAC_CSR_CMD.
const MAC_CR: u32 = 1;
const ADDRH: u32 = 2;
const ADDRL: u32 = 3;

/// The longest frame, without its checksum.
const MTU: usize = 1514;

/// A frame with its checksum, in whole words.
const BUFFER: usize = (MTU + 4).next_multiple_of(4);

/// The two command words before a frame in TX_DATA_FIFO.
const TX_COMMANDS: usize = 8;

/// The controller, and room for a frame each way.
#[derive(Debug)]
pub(crate) struct Lan9118 {
    received: [u8; BUFFER],
    sent: [u8; BUFFER],
}

impl Lan9118 {
    /// The buffers of the controller, to be stored where they stay.
    pub(crate) const fn new() -> Self {
        Self {
            received: [0; BUFFER],
            sent: [0; BUFFER],
        }
    }

    /// Switches the controller on, with this MAC address.
    ///
    /// # Panics
    ///
    /// If there is no such controller.
    pub(crate) fn start(&mut self, mac: [u8; 6]) {
        assert_eq!(read(BYTE_TEST), 0x8765_4321, "no LAN9118");
        // 5 KiB to send, the rest to receive; bit 20 must be set.
        write(HW_CFG, 1 << 20 | 5 << 16);
        let [a, b, c, d, e, f] = mac;
        write_mac(ADDRL, u32::from_le_bytes([a, b, c, d]));
        write_mac(ADDRH, u32::from_le_bytes([e, f, 0, 0]));
        // FDPX, TXEN, RXEN.
        write_mac(MAC_CR, 1 << 20 | 1 << 3 | 1 << 2);
        // TXSAO, as this driver does not read the status of frames that were sent. TX_ON.
        write(TX_CFG, 1 << 2 | 1 << 1);
    }
}

fn read(register: usize) -> u32 {
    // SAFETY: all registers that are named above may be read.
    unsafe { ptr::read_volatile((BASE + register) as *const u32) }
}

fn write(register: usize, value: u32) {
    // SAFETY: the controller has no access to memory.
    unsafe { ptr::write_volatile((BASE + register) as *mut u32, value) }
}

fn write_mac(register: u32, value: u32) {
    const BUSY: u32 = 1 << 31;
    write(MAC_CSR_DATA, value);
    write(MAC_CSR_CMD, BUSY | register);
    while read(MAC_CSR_CMD) & BUSY != 0 {}
}

/// Takes the next frame out of the controller. Returns its length without the checksum.
fn take_frame(buffer: &mut [u8; BUFFER]) -> Option<usize> {
    let waiting = read(RX_FIFO_INF) >> 16 & 0xFF;
    if waiting == 0 {
        return None;
    }
    let status = read(RX_STATUS_FIFO);
    let length = (status >> 16 & 0x3FFF) as usize;
    let is_bad = status & 1 << 15 != 0;
    // The whole frame has to be read, even if it is of no use: the next one is behind it.
    for word in 0..length.div_ceil(4) {
        let bytes = read(RX_DATA_FIFO).to_le_bytes();
        if let Some(place) = buffer.get_mut(4 * word..4 * word + 4) {
            place.copy_from_slice(&bytes);
        }
    }
    let is_whole = !is_bad && (4..=BUFFER).contains(&length);
    Some(if is_whole { length - 4 } else { 0 })
}

/// True if the controller takes a frame of any length.
fn has_room() -> bool {
    let free = read(TX_FIFO_INF) & 0xFFFF;
    free as usize >= BUFFER + TX_COMMANDS
}

/// A frame that was received.
#[derive(Debug)]
pub(crate) struct Received<'a>(&'a [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(self.0)
    }
}

/// Room for a frame to be sent.
#[derive(Debug)]
pub(crate) struct Room<'a>(&'a mut [u8; BUFFER]);

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let result = fill(&mut self.0[..length]);
        let count = length as u32;
        // First and last segment, and the segment's length; then the length of the frame.
        write(TX_DATA_FIFO, 1 << 13 | 1 << 12 | count);
        write(TX_DATA_FIFO, count);
        for word in self.0[..length.next_multiple_of(4)].chunks_exact(4) {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(word);
            write(TX_DATA_FIFO, u32::from_le_bytes(bytes));
        }
        result
    }
}

impl Device for Lan9118 {
    type RxToken<'a> = Received<'a>;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Room<'_>)> {
        if !has_room() {
            return None; // the answer would have none
        }
        let length = take_frame(&mut self.received)?;
        Some((Received(&self.received[..length]), Room(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        has_room().then_some(Room(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MTU;
        capabilities
    }
}
