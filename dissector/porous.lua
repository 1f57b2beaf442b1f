-- Wireshark's dissector of POROUS, written from docs/wire.md; docs/wireshark.md says how to install and use it.
--
-- This file registers the protocol and leads a datagram through the parts, which are beside it in the folder porous:
--   reader            a cursor over bytes, and what a receiver refuses
--   integrity         checks of short forms, ids from their low bytes
--   fields            the names of all that is shown
--   offers            parameters of the handshake
--   long_forms        handshake, refusals, goodbyes
--   messages          packets, fragments, control messages
--   acknowledgements  what an acknowledgement names
--   short_forms       the traffic of a connection
--   connections       what was learnt from the packets before
--   payloads          packets whose contents this project defines

local proto = Proto("porous", "POROUS")
local porous = { proto = proto }

local folder = debug.getinfo(1, "S").source:match("^@?(.*[/\\])") or ""
for _, part in ipairs({
    "reader", "integrity", "fields", "offers", "long_forms", "messages", "acknowledgements", "short_forms",
    "connections", "payloads",
}) do
    assert(loadfile(folder .. "porous/" .. part .. ".lua"))()(porous)
end

local fields = porous.fields
for _, field in pairs(fields) do
    proto.fields[#proto.fields + 1] = field
end

local function expert_info(name, text, group, severity)
    return ProtoExpert.new("porous." .. name, text, expert.group[group], expert.severity[severity])
end

porous.experts = {
    malformed = expert_info("malformed", "Refused", "MALFORMED", "ERROR"),
    reserved = expert_info("reserved", "Refused: reserved", "MALFORMED", "ERROR"),
    integrity = expert_info("integrity", "Refused: the check is wrong", "CHECKSUM", "ERROR"),
    cut = expert_info("cut", "Not captured whole", "UNDECODED", "NOTE"),
    version = expert_info("other_version", "Another version of the protocol", "PROTOCOL", "WARN"),
    extension = expert_info("unknown_extension", "Unknown extension", "UNDECODED", "NOTE"),
    parameter = expert_info("unknown_parameter", "Unknown parameter", "UNDECODED", "NOTE"),
    unknown = expert_info("unknown_connection", "Unknown connection", "UNDECODED", "NOTE"),
    assumed = expert_info("assumed", "Assumed length of the connection id", "ASSUMPTION", "CHAT"),
    duplicate = expert_info("duplicate", "The frame id was seen before", "SEQUENCE", "NOTE"),
}
for _, info in pairs(porous.experts) do
    proto.experts[#proto.experts + 1] = info
end

-- Lengths of connection ids to choose from.
local UNKNOWN_LENGTH = 255
local LENGTHS = { { UNKNOWN_LENGTH, "unknown", UNKNOWN_LENGTH } }
for bytes = 0, 20 do
    LENGTHS[#LENGTHS + 1] = { bytes, tostring(bytes), bytes }
end
proto.prefs.ports = Pref.range("UDP ports", "", "Ports of hosts, beside the connections that are recognized", 65535)
proto.prefs.connection_id_bytes = Pref.enum("Bytes of connection ids", UNKNOWN_LENGTH,
    "Of connections whose handshake was not captured, and of sealed ones, to the listener", LENGTHS, false)

-- The length that the user has set, or nil.
function porous.connection_id_bytes()
    local chosen = proto.prefs.connection_id_bytes
    return chosen ~= UNKNOWN_LENGTH and chosen or nil
end

local udp_ports = DissectorTable.get("udp.port")
local ports_in_use = ""

function proto.prefs_changed()
    if ports_in_use ~= proto.prefs.ports then
        if ports_in_use ~= "" then
            udp_ports:remove(ports_in_use, proto)
        end
        if proto.prefs.ports ~= "" then
            udp_ports:add(proto.prefs.ports, proto)
        end
        ports_in_use = proto.prefs.ports
    end
end

local connections = porous.Connections.new()

function proto.init()
    connections = porous.Connections.new()
end

-- Packet ids have two bytes and dependencies any length where N_Q is not known, as in most connections.
local UNKNOWN = { packet_id_bytes = 2, n_q = 16384 }

-- What is known of a short form. If several connections may be meant, it is the one whose check is right.
local function context_of(reader, visit)
    local candidates, first = connections:candidates(visit, reader.bytes, reader.at + 1), nil
    for _, route in ipairs(candidates) do
        local context = connections:context(route)
        first = first or context
        local is_readable = not context.is_sealed and context.connection_id_bytes
        if #candidates > 1 and is_readable and porous.short_forms.is_right(reader, context) then
            return context
        end
    end
    return first or setmetatable({ connection_id_bytes = porous.connection_id_bytes() }, { __index = UNKNOWN })
end

-- What the packet says about others, and others about it.
local function add_links(form, visit)
    local node = form.node
    if visit.duplicate_of then
        node:add(fields.duplicate_of, visit.duplicate_of):set_generated()
        node:add_proto_expert_info(porous.experts.duplicate)
    end
    local function add(tree, name, number, sent, acknowledged)
        local item = tree:add(fields[name], number)
        item:set_generated()
        local micros = math.floor((acknowledged - sent) * 1e6 + 0.5)
        local round_trip = NSTime.new(math.floor(micros / 1e6), math.floor(micros % 1e6) * 1000)
        item:add(fields.round_trip, round_trip):set_generated()
    end
    local by = visit.frame and visit.frame.acknowledged_by
    if by then
        add(node, "acknowledged_in", by.number, visit.time, by.time)
    end
    for _, frame in ipairs(visit.acknowledged or {}) do
        add(form.ack.node, "acknowledges_packet", frame.visit.number, frame.visit.time, visit.time)
    end
end

local function read_short_form(datagram, reader, tree)
    local visit = datagram.visit
    visit.context = visit.context or context_of(reader, visit)
    local context = visit.context
    local form = porous.short_forms.read(reader, tree, context, function(form)
        if context.route then
            if datagram.is_new then
                connections:take_frame(form, context, visit)
            end
            add_links(form, visit)
        end
        porous.show_payloads(form, context, datagram.pinfo)
    end)
    datagram.summaries[#datagram.summaries + 1] = form.summary
end

local function note_long_form(datagram, form)
    if datagram.is_new then
        connections:learn(form, datagram.visit)
    end
    datagram.summaries[#datagram.summaries + 1] = form.summary
    return form
end

-- An ACK may be followed by a REQ, or by a short form.
local function read_behind_ack(datagram, ack, reader, tree)
    if reader:left() == 0 then
        if ack.message == 1 then
            reader:end_here("the REQ behind message 1")
        end
    elseif math.floor(reader:peek() / 64) == 1 and ack.message ~= 1 then
        read_short_form(datagram, reader, tree)
    else
        note_long_form(datagram, porous.long_forms.read_req_behind(ack, reader, tree))
    end
end

local function read_datagram(datagram, reader, tree)
    local byte0 = reader:peek()
    if math.floor(byte0 / 64) == 1 then
        read_short_form(datagram, reader, tree)
    elseif byte0 == 0xf2 then
        note_long_form(datagram, porous.long_forms.read_reset(reader, tree))
    else
        local form = note_long_form(datagram, porous.long_forms.read(reader, tree))
        if form.name == "ACK" or form.name == "ACK with AUTH" then
            read_behind_ack(datagram, form, reader, tree)
        end
    end
end

-- Shows why a receiver refuses the datagram.
local function add_refusal(datagram, problem, tree)
    local text = problem.cause .. ": " .. problem.text
    if problem.cause == "not captured" then
        tree:add_proto_expert_info(porous.experts.cut, text)
    else
        tree:add(fields.refused, problem.cause):set_generated()
        local info = porous.experts[problem.cause] or porous.experts.malformed
        tree:add_proto_expert_info(info, "Refused: " .. text)
    end
    datagram.summaries[#datagram.summaries + 1] = "[" .. text .. "]"
end

function proto.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "POROUS"
    local visit, is_new = connections:visit(pinfo)
    local datagram = { pinfo = pinfo, visit = visit, is_new = is_new, summaries = {} }
    local root = tree:add(proto, tvb())
    local problem = porous.attempt(read_datagram, datagram, porous.Reader.new(tvb), root)
    if problem then
        add_refusal(datagram, problem, root)
    end
    local summary = table.concat(datagram.summaries, " + ")
    pinfo.cols.info = summary
    root:append_text(", " .. summary)
    return tvb:len()
end

-- Long forms are known by their heads. Short forms and RESET say nothing of themselves: they are known by what a
-- handshake has told before.
local function is_likely(tvb, pinfo)
    local bytes = tvb:raw(0, tvb:len())
    local byte0 = bytes:byte(1)
    if connections:is_known(pinfo) then
        return true
    elseif byte0 == 0xf2 then
        return connections:knows_reset(porous.Connections.addresses(pinfo), bytes:sub(2))
    elseif math.floor(byte0 / 64) == 1 then
        return #bytes >= 6 and #connections:candidates(porous.Connections.addresses(pinfo), bytes, 1) > 0
    end
    return porous.long_forms.is_likely(bytes)
end

proto:register_heuristic("udp", function(tvb, pinfo, tree)
    if tvb:len() == 0 or not is_likely(tvb, pinfo) then
        return false
    end
    proto.dissector(tvb, pinfo, tree)
    pinfo.conversation = proto
    return true
end)
udp_ports:add_for_decode_as(proto)
