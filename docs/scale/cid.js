// Finds the number of the server in the first datagram of a session, for nginx.conf.
function preread(session) {
    session.on('upload', function (datagram) {
        var bytes = Buffer.from(datagram);
        // The two highest bits of the first byte are 01: a connection id follows that byte.
        if (bytes.length > 1 && (bytes[0] & 0xC0) == 0x40) {
            session.variables.number = bytes[1];
        }
        session.off('upload');
        session.done();
    });
}

export default { preread };
