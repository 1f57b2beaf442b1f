-- Packets whose contents this project defines: those of the program `porous` (docs/tools.md, "Packets") and the header
-- of an engine's own packets (docs/message.md, "Acks"). The bits of other messages mean nothing without the code that
-- wrote them: an application has a dissector of its own, in the table porous.application_id.

return function(porous)
    local table_of = DissectorTable.new("porous.application_id", "POROUS application id", ftypes.STRING, base.NONE,
        porous.proto)

    -- Lets the dissector of the application show the packets of a short form, fragments excepted.
    function porous.show_payloads(form, context, pinfo)
        local dissector = context.application_id and table_of:get_dissector(context.application_id)
        for _, message in ipairs(dissector and form.messages or {}) do
            if message.name == "packet" and message.length > 0 then
                dissector:call(message.range:tvb(), pinfo, message.node)
            end
        end
    end

    local tools = Proto("porous_tools", "Packets of the program porous")
    local REFUSALS = {
        [0] = "name", [1] = "exists", [2] = "busy", [3] = "cannot write", [4] = "hash", [5] = "makes no sense",
    }
    local PING_KINDS = {
        [1] = "probe", [2] = "probe, wants a long echo", [3] = "echo", [4] = "question", [5] = "counts",
    }
    local SEND_KINDS = { [1] = "offer", [2] = "begin at", [3] = "data", [4] = "done", [5] = "refused" }

    local shown = {
        ping = ProtoField.uint8("porous_tools.ping", "Packet of ping", base.DEC, PING_KINDS),
        send = ProtoField.uint8("porous_tools.send", "Packet of send", base.DEC, SEND_KINDS),
        serial = ProtoField.uint64("porous_tools.serial", "Serial"),
        time = ProtoField.uint64("porous_tools.time", "Time, in microseconds"),
        probes = ProtoField.uint64("porous_tools.probes", "Probes counted"),
        echoes = ProtoField.uint64("porous_tools.echoes", "Echoes counted"),
        length = ProtoField.uint64("porous_tools.length", "Length of the file"),
        hash = ProtoField.bytes("porous_tools.hash", "SHA-256 of the file"),
        name = ProtoField.string("porous_tools.name", "Name of the file", base.UNICODE),
        offset = ProtoField.uint64("porous_tools.offset", "Offset"),
        data = ProtoField.bytes("porous_tools.data", "Bytes of the file"),
        reason = ProtoField.uint8("porous_tools.reason", "Reason", base.DEC, REFUSALS),
    }
    for _, field in pairs(shown) do
        tools.fields[#tools.fields + 1] = field
    end
    tools.experts = { ProtoExpert.new("porous_tools.short", "The packet is too short", expert.group.MALFORMED,
        expert.severity.WARN) }

    -- Of each kind the fields behind it, with their sizes; without a size a field goes on to the end.
    local PING = {
        { { "serial", 8 }, { "time", 8 } },
        { { "serial", 8 }, { "time", 8 } },
        { { "serial", 8 }, { "time", 8 }, { "probes", 8 } },
        {},
        { { "probes", 8 }, { "probes", 8 }, { "probes", 8 }, { "echoes", 8 }, { "echoes", 8 }, { "echoes", 8 } },
    }
    local SEND = {
        { { "length", 8 }, { "hash", 32 }, { "name" } },
        { { "offset", 8 } },
        { { "data" } },
        {},
        { { "reason", 1 } },
    }

    local function show(tvb, tree, kind_field, kinds)
        local node = tree:add(tools, tvb())
        node:add(shown[kind_field], tvb(0, 1))
        local at = 1
        for _, field in ipairs(kinds[tvb(0, 1):uint()] or {}) do
            local size = field[2] or tvb:len() - at
            if at + size > tvb:len() then
                node:add_proto_expert_info(tools.experts[1])
                return
            end
            if field[1] == "name" then
                node:add(shown.name, tvb(at, size), tvb(at, size):string(ENC_UTF_8))
            elseif size > 0 then
                node:add_le(shown[field[1]], tvb(at, size))
            end
            at = at + size
        end
    end

    -- One dissector for both commands of a pair would not know which packets it sees.
    local transfer = Proto("porous_transfer", "Packets of porous send and porous recv")

    function tools.dissector(tvb, _, tree)
        show(tvb, tree, "ping", PING)
    end

    function transfer.dissector(tvb, _, tree)
        show(tvb, tree, "send", SEND)
    end

    table_of:add("0x706f726f75732d6d", tools)
    table_of:add("0x706f726f75732d74", transfer)

    local acks = Proto("porous_acks", "Packet with the acks of porous-message")
    local ack_fields = {
        ProtoField.uint16("porous_acks.sequence", "Sequence"),
        ProtoField.uint16("porous_acks.ack", "Ack"),
        ProtoField.uint32("porous_acks.bits", "Ack bits", base.HEX),
        ProtoField.uint16("porous_acks.received", "Received"),
        ProtoField.bytes("porous_acks.contents", "Contents"),
    }
    acks.fields = ack_fields
    local ACK_HEADER = 8

    -- Bit n says that number ack - n was received.
    function acks.dissector(tvb, pinfo, tree)
        if tvb:len() < ACK_HEADER then
            return 0
        end
        local node = tree:add(acks, tvb())
        node:add_le(ack_fields[1], tvb(0, 2))
        node:add_le(ack_fields[2], tvb(2, 2))
        local bits = node:add_le(ack_fields[3], tvb(4, 4))
        for index = 0, 31 do
            if porous.bit(tvb(4 + math.floor(index / 8), 1):uint(), index % 8) == 1 then
                local number = math.floor((tvb(2, 2):le_uint() - index) % 65536)
                bits:add(ack_fields[4], tvb(4, 4), number):set_generated()
            end
        end
        if tvb:len() > ACK_HEADER then
            node:add(ack_fields[5], tvb(ACK_HEADER))
        end
        pinfo.cols.protocol = "POROUS acks"
        return tvb:len()
    end

    -- An engine sends these packets by means of its own.
    DissectorTable.get("udp.port"):add_for_decode_as(acks)
end
