"""The frames that have come, and the acknowledgement of them."""
from basics import DELAY_UNIT, delay_byte

# How far ahead of the newest frame one is taken without a second one near it.
AHEAD = 128


class Received:
    """The frames that have come, and what is to be said of them."""

    # A block tells of the newest frames alone: what is older was told before.
    SPAN = 256

    def __init__(self, agreement):
        self.behind = agreement.behind
        self.next, self.bits, self.torn = 0, {}, set()
        self.far = None
        self.newest_at = None
        self.is_due = self.has_news = False

    def verdict(self, frame_id):
        """True if the frame is to be taken. A frame far ahead is taken if another one was near it just before."""
        if frame_id < self.next - self.behind:
            return False
        if frame_id < self.next + AHEAD:
            self.far = None
            return True
        before, self.far = self.far, frame_id
        return before is not None and before != frame_id and abs(before - frame_id) < AHEAD

    def note(self, frame_id, bit, asks, now):
        if self.bits.get(frame_id, bit) != bit:
            self.torn.add(frame_id)
        self.bits[frame_id] = bit
        if frame_id >= self.next:
            self.next, self.newest_at = frame_id + 1, now
            for old in [it for it in self.bits if it < self.next - self.behind]:
                del self.bits[old]
        self.has_news = True
        self.is_due |= asks

    def block(self, width_of, now):
        """The acknowledgement; None before the first frame."""
        if not self.bits:
            return None
        largest = self.next - 1
        known = {it for it in self.bits if it > largest - self.SPAN and (it == largest or it not in self.torn)}
        block = {"largest": largest, "largest_bytes": width_of(largest)}
        block["missing"] = [it for it in range(largest - 1, max(largest - 33, -1), -1) if it not in known]
        told = {it for it in known if it >= largest - 32}
        ranges, at = [], largest - 33
        while at >= 0 and len(ranges) < 16 and any(it <= at for it in known):
            top = max(it for it in known if it <= at)
            bottom = top
            while bottom - 1 in known:
                bottom -= 1
            ranges.append({"gap": at - top, "length": top - bottom + 1})
            told.update(range(bottom, top + 1))
            at = bottom - 1
        if ranges:
            block["ranges"] = ranges
        block["nonce_sum"] = sum(self.bits[it] for it in told) & 1
        held = int((now - self.newest_at) * 1e6)
        if held >= DELAY_UNIT:
            block["delay"] = delay_byte(held)
        return block
