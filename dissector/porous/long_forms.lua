-- Long forms: the handshake, refusals and goodbyes (docs/wire.md, "Long forms"), and RESET.

return function(porous)
    local fields, demand, bit = porous.fields, porous.demand, porous.bit
    local long_forms = {}
    porous.long_forms = long_forms

    local VERSION = 1
    local TAG = 16
    -- The least and the most bytes of a public key, by suites; those of other suites are not known.
    local KEY_BYTES = { [1] = { 32, 32 }, [2] = { 32, 32 } }
    local UNKNOWN_KEY = { 1, 65 }
    local LONGEST_TOKEN, TOKEN_HEAD = 372, 34
    local NOBODY = ("\0"):rep(8)
    local NAMES = {
        [0xc0] = "REQ", [0xc1] = "REQ with COOKIE", [0xd0] = "ACK", [0xd2] = "ACK with AUTH", [0xe0] = "REJ",
        [0xf0] = "DISC", [0xf1] = "DISC_ACK", [0xf8] = "DISC", [0xf9] = "DISC_ACK",
    }

    -- True if the datagram begins with a whole long form of this version, or of one near to it.
    function long_forms.is_likely(bytes)
        local byte0, low, high = bytes:byte(1, 3)
        local is_ours = #bytes >= 23 and NAMES[byte0] and bytes:sub(5, 7) == "\0\0\0"
        return is_ours and low + 256 * high >= 20 and low + 256 * high <= #bytes - 3
    end

    local function demand_known(byte0)
        local kind = math.floor(byte0 / 16)
        demand(kind >= 12, "unknown type", string.format("no form begins with 0x%02x", byte0))
        local cause = kind == 15 and "unknown type" or "reserved"
        demand(NAMES[byte0], cause, string.format("flags of byte 0, which is 0x%02x", byte0))
    end

    -- A REQ of another version, of which nothing but the head is read; nil if this is none.
    local function read_other_version(reader, tree)
        if reader:left() < 15 then
            reader:end_here("the head")
        end
        local start = reader.at
        local ahead = reader:part(15)
        reader.at = start
        local byte0, range = ahead:number(1)
        ahead:take(2)
        local version, version_range = ahead:number(4)
        if version == VERSION then
            return nil
        end
        local node = tree:add(fields.form, reader.tvb(start, reader:left()), "REQ of another version")
        node:add(fields.byte0, range, byte0)
        node:add(fields.version, version_range, version)
        local nonce = ahead:take(8)
        node:add(fields.nonce_self, nonce, nonce:le_uint64())
        demand(ahead:string(nonce) ~= NOBODY, "bad value", "the nonce of the sender is 0")
        node:add_proto_expert_info(porous.experts.version, "Another version of the protocol")
        return { name = "REQ of another version", summary = string.format("REQ of version 0x%08x", version) }
    end

    -- The 23 bytes that all long forms share. The reader of the body ends where the form does.
    local function read_head(reader, tree)
        local start = reader.at
        local byte0, range = reader:number(1, "byte 0")
        demand_known(byte0)
        local node = tree:add(fields.form, reader.tvb(start, reader:left()), NAMES[byte0])
        node:add(fields.byte0, range, byte0)
        local length, length_range = reader:number(2, "the length")
        node:add(fields.length, length_range, length)
        local body = reader:part(length)
        node:set_len(body.stop - start)
        local form = { name = NAMES[byte0], byte0 = byte0, node = node, body = body }
        form.is_short = body:left() < length
        local version, version_range = body:number(4, "the version")
        node:add(fields.version, version_range, version)
        form.version = version
        for _, name in ipairs({ "nonce_self", "nonce_peer" }) do
            local nonce = body:take(8, "a nonce")
            form[name] = body:string(nonce)
            node:add(fields[name], nonce, nonce:le_uint64())
        end
        demand(form.name == "REJ" or version == VERSION, "version", "another version of the protocol")
        return form
    end

    local function demand_nonces(form, may_lack_peer)
        demand(form.nonce_self ~= NOBODY, "bad value", "the nonce of the sender is 0")
        demand(may_lack_peer or form.nonce_peer ~= NOBODY, "bad value", "the nonce of the receiver is 0")
    end

    local function read_connection_id(form)
        local length, range = form.body:number(1, "the length of the connection id")
        demand(length <= 20, "bad value", "the connection id has more than 20 bytes")
        if length > 0 then
            range = form.body:take(length, "the connection id")
            form.connection_id = form.body:string(range)
            form.node:add(fields.connection_id, range)
        else
            form.connection_id = ""
            form.node:add(fields.connection_id, form.body:take(0)):set_text("Connection id: empty")
        end
    end

    local function read_req(form)
        local has_cookie = form.name == "REQ with COOKIE"
        demand_nonces(form, not has_cookie)
        read_connection_id(form)
        demand(not has_cookie or form.connection_id == "", "bad value", "a connection id beside a cookie")
        form.offer = porous.read_offer(form.body, form.node, not has_cookie)
        form.summary = form.name
        if has_cookie then
            -- The listener names its id in the acknowledgement.
            form.connection_id = nil
        elseif form.nonce_peer ~= NOBODY then
            form.summary = "REQ that brings a cookie back"
        end
    end

    -- Zeros up to the end of the datagram.
    local function read_padding(form, reader)
        local count = reader:left()
        demand(reader:is_zero(), "trailing bytes", "behind the request stands something that is not 0")
        local range = reader:take(count)
        form.node:add(fields.padding, range, count)
        if reader.is_cut then
            reader:end_here("the padding")
        end
    end

    local function read_plain_ack(form)
        read_connection_id(form)
        form.offer = porous.read_offer(form.body, form.node, false)
    end

    -- A token is sealed, but for its first 34 bytes.
    local function read_token(form)
        local body, node = form.body, form.node
        local size = body:number(2, "the length of the token")
        demand(size >= 1 and size <= LONGEST_TOKEN, "bad value", "a token has 1 to 372 bytes")
        local range = body:take(size, "the token")
        local token = node:add(fields.token, range)
        if size >= TOKEN_HEAD then
            token:add(fields["token.version"], range:range(0, 1))
            token:add(fields["token.key"], range:range(1, 1))
            token:add(fields["token.expires"], range:range(2, 8), range:range(2, 8):le_uint64())
        end
    end

    local function read_proofs(form, flags)
        local body, node = form.body, form.node
        if bit(flags, 1) == 1 then
            node:add(fields.server_key_tag, body:take(4, "the tag of the server's key"))
        end
        if bit(flags, 2) == 1 then
            local psk, range = body:number(4, "the number of the psk")
            node:add(fields.psk, range, psk)
        end
        if bit(flags, 3) == 1 then
            read_token(form)
        end
    end

    -- What is sealed is shown as bytes, the last 16 of which are the tag.
    function long_forms.add_sealed(node, range, what)
        local sealed = node:add(fields.sealed, range)
        sealed:append_text(": " .. what)
        sealed:add(fields.tag, range:range(range:len() - TAG, TAG))
    end

    local function read_auth(form)
        local body, node = form.body, form.node
        local suite, suite_range = body:number(1, "the suite")
        node:add(fields.suite, suite_range, suite)
        local flags, range = body:number(1, "the flags")
        node:add(fields["auth.flags"], range, flags)
        form.message = bit(flags, 0) + 1
        node:add(fields["auth.message"], range, form.message)
        demand(suite >= 1, "bad value", "suite 0")
        demand(flags == 1 or flags < 16 and flags % 2 == 0, "reserved", "a reserved flag of the handshake")
        demand(flags < 12, "bad value", "both a psk and a token")
        read_proofs(form, flags)
        -- Message 1 seals a greeting of up to 255 bytes, message 2 a connection id before that.
        local least = form.message == 1 and TAG or TAG + 1
        local most = form.message == 1 and TAG + 255 or TAG + 1 + 20 + 255
        local key = KEY_BYTES[suite] or UNKNOWN_KEY
        if body:left() < key[1] + least then
            body:end_here("what is sealed")
        end
        demand(body:left() <= key[2] + most, "bad value", "more is sealed than may be")
        if KEY_BYTES[suite] then
            node:add(fields.e, body:take(key[1]))
            form.sealed_bytes = body:left()
            local what = form.message == 1 and "greeting" or "connection id and greeting"
            long_forms.add_sealed(node, body:take(body:left()), what)
        else
            node:add(fields.e_and_sealed, body:take(body:left()))
        end
    end

    local function read_ack(form)
        demand_nonces(form)
        form.summary = form.name
        if form.name == "ACK" then
            read_plain_ack(form)
        else
            read_auth(form)
            form.summary = form.name .. ", message " .. form.message
        end
    end

    local function read_rej(form)
        local body, node = form.body, form.node
        demand(form.nonce_self == NOBODY and form.nonce_peer ~= NOBODY, "bad value", "the nonces of a refusal")
        local reason, reason_range = body:number(1, "the reason")
        node:add(fields["rej.reason"], reason_range, reason)
        local oldest, oldest_range = body:number(4, "the oldest version")
        node:add(fields["rej.oldest_version"], oldest_range, oldest)
        local size = body:number(1, "the number of bytes")
        local range = body:take(size, "the bytes of the refusal")
        demand(body:left() == 0, "trailing bytes", "more bytes than the refusal counts")
        demand(reason <= 4, "bad value", "an unknown reason")
        local fits = reason == 1 and size == 8 or reason == 3 and size <= 64 or reason ~= 1 and size == 0
        demand(fits, "bad value", "the number of bytes does not fit the reason")
        if reason == 1 then
            node:add(fields["rej.application_id"], range, range:le_uint64())
        elseif reason == 3 then
            node:add(fields["rej.data"], range)
        end
        local why = { [0] = "version", "incompatible offers", "full", "the application's", "security" }
        form.summary = "REJ (" .. why[reason] .. ")"
    end

    local function read_disc(form)
        local body, node = form.body, form.node
        demand_nonces(form)
        form.summary = form.name
        if form.name == "DISC" then
            local reason, range = body:number(4, "the reason")
            node:add(fields["disc.reason"], range, reason)
            form.summary = string.format("DISC, reason %d", reason)
        end
        if form.byte0 >= 0xf8 then
            node:add(fields.mac, body:take(16, "the MAC"))
        end
        demand(body:left() == 0, "trailing bytes", "more bytes than the goodbye has")
    end

    local READERS = {
        REQ = read_req, ["REQ with COOKIE"] = read_req, ACK = read_ack, ["ACK with AUTH"] = read_ack,
        REJ = read_rej, DISC = read_disc, DISC_ACK = read_disc,
    }

    local function read_body(form)
        READERS[form.name](form)
        if form.is_short then
            form.body:end_here("the form")
        end
    end

    -- The REQ behind an ACK. Message 1 is followed by the REQ to which it belongs.
    function long_forms.read_req_behind(ack, reader, tree)
        demand(math.floor(reader:peek() / 16) == 12 and ack.message ~= 2, "trailing bytes", "no form may stand here")
        local req = read_head(reader, tree)
        read_body(req)
        read_padding(req, reader)
        if ack.message == 1 then
            local is_same = req.nonce_self == ack.nonce_self and req.nonce_peer == ack.nonce_peer
            demand(req.name == "REQ" and is_same, "bad value", "the REQ does not belong to message 1")
        end
        return req
    end

    -- The long form with which a datagram begins.
    function long_forms.read(reader, tree)
        if math.floor(reader:peek() / 16) == 12 then
            local other = read_other_version(reader, tree)
            if other then
                reader:take(reader:left())
                return other
            end
        end
        local form = read_head(reader, tree)
        read_body(form)
        if form.offer and form.name ~= "ACK" then
            read_padding(form, reader)
        elseif form.name ~= "ACK" and form.name ~= "ACK with AUTH" then
            demand(reader:left() == 0, "trailing bytes", "behind the form stands something")
        end
        return form
    end

    -- RESET: byte 0 and a connection id, to the end.
    function long_forms.read_reset(reader, tree)
        local node = tree:add(fields.form, reader.tvb(), "RESET")
        local byte0, range = reader:number(1)
        node:add(fields.byte0, range, byte0)
        if reader:left() == 0 then
            reader:end_here("the connection id")
        end
        demand(reader:left() <= 20, "trailing bytes", "a connection id has up to 20 bytes")
        range = reader:take(reader:left())
        node:add(fields.connection_id, range)
        return { name = "RESET", summary = "RESET of " .. tostring(range:bytes()):lower() }
    end
end
