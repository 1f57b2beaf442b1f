-- The messages of a plain short form (docs/wire.md, "Messages" and "Control").

return function(porous)
    local fields, demand, refuse, bit = porous.fields, porous.demand, porous.refuse, porous.bit

    local MODES = { [0] = "unreliable", "reliable", "passive" }
    local MOST_MESSAGES = 128
    local SHORTEST_FRAGMENT = 256
    local CONTROL_HEAD, RECEIPT, PADDING = 0xc0, 0xe0, 9

    -- What the head of the next packet or fragment of a datagram need not say.
    local Prediction = {}
    Prediction.__index = Prediction

    function Prediction.new(context)
        local prediction = { channel = 0, last = {}, ids = 256 ^ context.packet_id_bytes, n_q = context.n_q }
        return setmetatable(prediction, Prediction)
    end

    function Prediction:packet_id(channel)
        local last = self.last[channel]
        return last and math.floor((last.packet_id + 1) % self.ids)
    end

    function Prediction:dependency(channel, packet_id, is_reliable)
        local last = self.last[channel]
        if not last then
            return is_reliable and 1 or 0
        end
        local step = (packet_id - last.packet_id) % self.ids
        if step < 1 then
            return 0
        end
        local predicted = last.is_reliable and step or last.dependency > 0 and last.dependency + step or 0
        -- Ids wrap, and a step back is one forward beyond the window.
        return predicted < self.n_q and math.floor(predicted) or 0
    end

    function Prediction:note(message)
        self.channel, self.length = message.channel, message.length
        self.last[message.channel] = message
    end

    local function number(node, name, range, value)
        return node:add(fields["message." .. name], range, value)
    end

    -- Adds a field that the message does not carry, as it is predicted.
    local function predicted(node, name, value)
        node:add(fields["message." .. name], value):set_generated()
    end

    -- Channel, packet id and dependency, each of which is there exactly where its prediction fails.
    local function read_place(message, reader, node, prediction, context)
        local head, range = message.head, nil
        message.channel = prediction.channel
        if bit(head, 4) == 1 then
            message.channel, range = reader:number(1, "the channel")
            number(node, "channel", range, message.channel)
            demand(message.channel ~= prediction.channel, "not canonical", "the channel is as predicted")
        else
            predicted(node, "channel", message.channel)
        end
        local expected = prediction:packet_id(message.channel)
        message.packet_id = expected
        if bit(head, 3) == 1 then
            message.packet_id, range = reader:number(context.packet_id_bytes, "the packet id")
            number(node, "packet_id", range, message.packet_id)
            demand(message.packet_id ~= expected, "not canonical", "the packet id is as predicted")
        else
            demand(expected, "not canonical", "no packet id, and none is predicted")
            predicted(node, "packet_id", expected)
        end
        expected = prediction:dependency(message.channel, message.packet_id, message.is_reliable)
        message.dependency = expected
        if bit(head, 2) == 1 then
            message.dependency, range = reader:varint("the dependency")
            number(node, "dependency", range, message.dependency)
            demand(message.dependency ~= expected, "not canonical", "the dependency is as predicted")
        else
            predicted(node, "dependency", expected)
        end
        demand(message.dependency < context.n_q, "bad value", "a dependency of N_Q or more")
    end

    -- The length of the payload; nil if it goes on to the end.
    local function read_length(head, reader, node, prediction)
        local form = head % 4
        if form == 0 then
            return nil
        end
        if form == 1 then
            demand(prediction.length, "not canonical", "a length as before, and there is none before")
            return prediction.length
        end
        local length, range = reader:number(form - 1, "the length")
        number(node, "length", range, length)
        demand(length ~= prediction.length, "not canonical", "the length is that of the payload before")
        demand(form == 2 or length > 255, "not canonical", "a length in more bytes than it needs")
        return length
    end

    local function check_fragment(message)
        local stop = message.offset + message.length
        demand(message.offset == 0 or message.offset >= SHORTEST_FRAGMENT, "bad value", "an offset of 1 to 255")
        demand(stop <= message.packet_length, "bad value", "a fragment beyond the end of its packet")
        demand(message.length < message.packet_length, "bad value", "a fragment that is its whole packet")
        local least = stop == message.packet_length and 1 or SHORTEST_FRAGMENT
        demand(message.length >= least, "bad value", "a fragment that is too short")
    end

    local function read_payload(message, reader, node, length)
        if length then
            message.range = reader:take(length, "the payload")
            -- What ends the datagram has no length.
            demand(reader:left() > 0, "not canonical", "a length of what ends the datagram")
        else
            message.range = reader:take(reader:left())
        end
        message.length = message.range:len()
        if message.is_fragment then
            check_fragment(message)
        end
        local item = node:add(fields["message.payload"], message.range)
        item:set_text("Payload: " .. (message.length == 0 and "none" or message.length .. " bytes"))
        message.node = item
    end

    -- A packet or a fragment.
    local function read_packet(message, reader, node, prediction, context)
        local kind = math.floor(message.head / 32)
        demand(kind <= 5, "unknown type", "no message has a head of this kind")
        message.is_fragment, message.is_reliable, message.mode = kind >= 3, kind % 3 == 1, MODES[kind % 3]
        number(node, "mode", message.head_range, message.mode)
        number(node, "receipt", message.head_range, message.has_receipt)
        read_place(message, reader, node, prediction, context)
        local length, range = read_length(message.head, reader, node, prediction), nil
        if message.is_fragment then
            message.offset, range = reader:varint("the offset")
            number(node, "offset", range, message.offset)
            message.packet_length, range = reader:varint("the length of the packet")
            number(node, "packet_length", range, message.packet_length)
        end
        read_payload(message, reader, node, length)
        prediction:note(message)
        local what = message.is_fragment
            and string.format("bytes %d to %d of %d", message.offset, message.offset + message.length - 1,
                message.packet_length)
            or string.format("%d bytes", message.length)
        message.text = string.format("%s %s %d on channel %d, %s", message.mode, message.name, message.packet_id,
            message.channel, what)
        message.summary = string.format("%s %d:%d%s (%d)", message.mode:sub(1, 1):upper(), message.channel,
            message.packet_id, message.is_fragment and "@" .. message.offset or "", message.length)
    end

    -- Of each control message its name and its fields: a size in bytes, "packet id", "varint" or "bytes".
    local CONTROL = {
        [0] = { "NOOP" },
        { "PING", { "id", 2 } },
        { "PONG", { "id", 2 } },
        { "WINDOW", { "channel", 1 }, { "packet_id", 4 } },
        { "SENTINEL", { "channel", 1 }, { "packet_id", "packet id" }, { "dependency", "varint" } },
        { "TOMBSTONE", { "channel", 1 }, { "packet_id", "packet id" }, { "dependency", "varint" } },
        { "LIMITS", { "serial", 2 }, { "receive_rate", 4 } },
        { "PATH_CHALLENGE", { "data", "bytes" } },
        { "PATH_RESPONSE", { "data", "bytes" } },
        [10] = { "ASK", { "channel", 1 }, { "number", 2 } },
        [11] = { "TOLD", { "channel", 1 }, { "number", 2 }, { "packet_id", 4 } },
        [12] = { "FATES", { "channel", 1 }, { "packet_id", 4 } },
    }

    -- What became of the packets up to one: a bit for each, 1 for those that were skipped.
    local function read_fates(message, reader, node)
        local n, range = reader:number(1, "the count of FATES")
        number(node, "first", range, n >= 128)
        local count = n % 128
        number(node, "count", range, count)
        demand(count >= 1 and count <= 64, "bad value", "FATES tells of 1 to 64 packets")
        local start = reader.at
        reader:take(math.ceil(count / 8), "the bits of FATES")
        reader.at = start
        for group = 0, math.ceil(count / 8) - 1 do
            local byte, place = reader:number(1)
            for position = 0, 7 do
                local index = 8 * group + position
                if bit(byte, position) == 1 then
                    demand(index < count, "reserved", "a spare bit of FATES")
                    local packet_id = (message.packet_id - (count - 1 - index)) % 2 ^ 32
                    number(node, "skipped", place, index):append_text(string.format(" (packet %d)", packet_id))
                end
            end
        end
        message.text = message.text .. string.format(", of %d packets", count)
    end

    local function read_control(message, reader, node, context)
        local subtype = reader:number(1, "the subtype")
        local control = CONTROL[subtype]
        demand(control, "unknown type", "no control message has subtype " .. subtype)
        local told = {}
        for index = 2, #control do
            local name, size = control[index][1], control[index][2]
            local value, range
            if size == "bytes" then
                node:add(fields["message." .. name], reader:take(8, name))
            else
                if size == "varint" then
                    value, range = reader:varint(name)
                else
                    value, range = reader:number(size == "packet id" and context.packet_id_bytes or size, name)
                end
                number(node, name, range, value)
                message[name] = value
                told[#told + 1] = string.format("%s %d", name, value)
            end
        end
        message.text = message.name .. (#told > 0 and " " or "") .. table.concat(told, ", "):gsub("_", " ")
        message.summary = message.name .. (message.id and string.format(" %d", message.id)
            or message.channel and string.format(" %d:%d", message.channel, message.packet_id or message.number) or "")
        demand((message.dependency or 0) < context.n_q, "bad value", "a dependency of N_Q or more")
        demand(message.receive_rate ~= 0, "bad value", "LIMITS of 0")
        if message.name == "FATES" then
            read_fates(message, reader, node)
        end
    end

    -- Zeros up to the end. They are no message.
    local function read_padding(message, reader, tree, start)
        demand(not message.has_receipt, "bad value", "a receipt for what is no packet")
        reader:take(1)
        demand(reader:is_zero(), "reserved", "padding that is not 0")
        reader:take(reader:left())
        local range = reader:since(start)
        tree:add(fields.padding, range, range:len())
    end

    -- `subtype` is that of a control message, and false for others.
    local function name_of(head, subtype)
        if subtype == false then
            return head >= 0x60 and "fragment" or "packet"
        end
        return CONTROL[subtype] and CONTROL[subtype][1] or "control"
    end

    -- One message, or the padding, which ends the messages: then nil.
    local function read_message(reader, tree, prediction, context)
        local start, message = reader.at, {}
        message.head, message.head_range = reader:number(1, "the head of a message")
        message.has_receipt = message.head == RECEIPT
        if message.has_receipt then
            message.head, message.head_range = reader:number(1, "the head behind a receipt")
        end
        local is_control = math.floor(message.head / 32) == 6
        if is_control then
            demand(not message.has_receipt, "bad value", "a receipt for what is no packet")
            demand(message.head == CONTROL_HEAD, "reserved", "a flag of a control message")
            if reader:peek() == PADDING then
                return read_padding(message, reader, tree, start)
            end
        end
        message.name = name_of(message.head, is_control and (reader:peek() or PADDING))
        local node = tree:add(fields.message, reader:since(start), message.name)
        number(node, "head", message.head_range, message.head)
        if is_control then
            read_control(message, reader, node, context)
        else
            read_packet(message, reader, node, prediction, context)
        end
        node:set_len(reader.at - start)
        node:set_text(message.text .. (message.has_receipt and ", with a receipt" or ""))
        return message
    end

    -- All messages up to the end of the reader, the padding included.
    function porous.read_messages(reader, tree, context)
        local messages, prediction = {}, Prediction.new(context)
        while reader:left() > 0 do
            local message = read_message(reader, tree, prediction, context)
            messages[#messages + 1] = message
            if #messages > MOST_MESSAGES then
                refuse("too many messages", "more than 128 messages")
            end
        end
        return messages
    end
end
