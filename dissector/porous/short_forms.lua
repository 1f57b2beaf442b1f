-- Short forms: the traffic of a connection (docs/wire.md, "Short forms" and "Sealed short forms").

return function(porous)
    local fields, demand, bit = porous.fields, porous.demand, porous.bit
    local short_forms = {}
    porous.short_forms = short_forms

    local CHECK, TAG = 4, 16

    -- The frame id; without what the connection has sent so far, its low bytes.
    local function read_frame_id(form, reader, context)
        local low, range = reader:number(form.width, "the frame id")
        form.id_range = range
        if context.next_frame then
            form.frame_id = porous.integrity.expand(low, form.width, context.next_frame, "the frame id")
            form.node:add(fields.frame_id, range, porous.integrity.wide(form.frame_id))
        else
            form.node:add(fields.frame_id_low, range, low)
        end
    end

    local function read_head(reader, tree, context)
        local start = reader.at
        local byte0, range = reader:number(1, "byte 0")
        local node = tree:add(fields.form, reader.tvb(start, reader.stop - start), "short form")
        local form = { name = "short form", node = node, start = start, width = math.floor(byte0 / 16) % 4 + 1 }
        form.byte0 = byte0
        form.has_acknowledgement = bit(byte0, 2) == 1
        node:add(fields.byte0, range, byte0)
        node:add(fields.frame_id_bytes, range, form.width)
        node:add(fields.nonce_bit, range, bit(byte0, 1))
        node:add(fields.acknowledge_now, range, bit(byte0, 0) == 1)
        if context.is_sealed then
            node:add(fields.phase, range, bit(byte0, 3))
            node:add(fields.acknowledges, range, form.has_acknowledgement)
        end
        return form
    end

    local function read_connection_id(form, reader, context)
        local range = reader:take(context.connection_id_bytes, "the connection id")
        local item = form.node:add(fields.connection_id, range)
        if range:len() == 0 then
            item:set_text("Connection id: empty")
        end
        if context.is_assumed then
            item:add_proto_expert_info(porous.experts.assumed,
                "This length is right if the listener has sent no greeting: message 2, which tells it, is sealed")
        end
    end

    -- Compares the check, which is shown at the end, before anything is believed.
    local function verify(form, reader, context)
        if not context.nonces or reader.is_cut then
            return
        end
        local acknowledged
        local problem = porous.attempt(function()
            if form.has_acknowledgement then
                acknowledged = porous.peek_acknowledged(reader, context.next_acknowledged)
            end
        end)
        if problem then
            return
        end
        local covered = reader.bytes:sub(form.start + 1, reader.stop)
        local check = porous.integrity.check(context, form.frame_id, acknowledged, covered)
        form.is_verified = check == form.check
    end

    -- The last four bytes. What stands before them is left in the reader.
    local function split_check(form, reader)
        if reader.is_cut then
            return
        end
        if reader:left() < CHECK then
            reader:end_here("the check")
        end
        local at = reader.at
        reader.at = reader.stop - CHECK
        form.check, form.check_range = reader:number(CHECK)
        reader.at, reader.stop = at, reader.stop - CHECK
    end

    local function add_check(form)
        if not form.check then
            return
        end
        local item = form.node:add(fields.check, form.check_range, form.check)
        local status = form.is_verified == nil and "unverified" or form.is_verified and "right" or "wrong"
        item:append_text(" (" .. status .. ")")
        item:add(fields["check.status"], form.check_range, status):set_generated()
    end

    -- True if the check of a short form is right in this context. The reader stays.
    function short_forms.is_right(reader, context)
        local form, copy = { start = reader.at }, reader:part(reader:left())
        reader.at = form.start
        local problem = porous.attempt(function()
            local byte0 = copy:number(1)
            form.has_acknowledgement = bit(byte0, 2) == 1
            copy:take(context.connection_id_bytes, "the connection id")
            local width = math.floor(byte0 / 16) % 4 + 1
            local low = copy:number(width, "the frame id")
            form.frame_id = porous.integrity.expand(low, width, context.next_frame, "the frame id")
            split_check(form, copy)
            verify(form, copy, context)
        end)
        return not problem and form.is_verified == true
    end

    local function read_plain(form, reader, context)
        demand(bit(form.byte0, 3) == 0, "reserved", "K is set in a plain short form")
        split_check(form, reader)
        verify(form, reader, context)
        local problem = porous.attempt(function()
            if form.has_acknowledgement then
                form.ack = porous.read_acknowledgement(reader, form.node, context.next_acknowledged)
            end
            form.messages = porous.read_messages(reader, form.node, context)
        end)
        add_check(form)
        demand(form.is_verified ~= false, "integrity", "the check is wrong")
        if problem then
            error(problem, 0)
        end
        if reader.is_cut then
            reader:end_here("the short form")
        end
        local may_be_urgent = #form.messages > 0 or bit(form.byte0, 0) == 0
        demand(may_be_urgent, "not canonical", "R without a message")
    end

    local function read_sealed(form, reader)
        if reader:left() < TAG then
            reader:end_here("the tag")
        end
        local what = form.has_acknowledgement and "an acknowledgement, and messages if any" or "messages"
        porous.long_forms.add_sealed(form.node, reader:take(reader:left()), what)
        if reader.is_cut then
            reader:end_here("the short form")
        end
    end

    -- Up to three messages, and how many more there are.
    local function summarize(form, context)
        local words = { form.frame_id and string.format("%d", form.frame_id) or "short form" }
        if form.ack and form.ack.largest then
            words[#words + 1] = string.format("ack %d", form.ack.largest)
        end
        if context.is_sealed then
            words[#words + 1] = "sealed"
        end
        local messages = form.messages or {}
        for index = 1, math.min(3, #messages) do
            words[#words + 1] = messages[index].summary
        end
        if #messages > 3 then
            words[#words + 1] = "and " .. #messages - 3 .. " more"
        end
        return table.concat(words, "  ")
    end

    -- A short form of which nothing but byte 0 can be read, as the length of the connection id is not known.
    local function read_unknown(reader, tree, context)
        local form = read_head(reader, tree, context)
        local range = reader:take(reader:left())
        form.node:add(fields.undecoded, range)
        local what = context.is_sealed and "it is sealed, and may be set in the preferences"
            or "no handshake was captured; it may be set in the preferences"
        form.node:add_proto_expert_info(porous.experts.unknown, "How long is the connection id? " .. what)
        form.summary = "short form of an unknown connection"
        return form
    end

    -- Reads a short form up to the end. Fills `form` as far as it comes, and calls `on_frame` when the frame is right.
    function short_forms.read(reader, tree, context, on_frame)
        if not context.connection_id_bytes then
            return read_unknown(reader, tree, context)
        end
        local form = read_head(reader, tree, context)
        read_connection_id(form, reader, context)
        read_frame_id(form, reader, context)
        if context.is_sealed then
            read_sealed(form, reader)
        else
            read_plain(form, reader, context)
        end
        form.summary = summarize(form, context)
        on_frame(form)
        return form
    end
end
