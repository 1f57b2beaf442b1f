-- What is known of connections: from the handshake the connection ids, the offers and the nonces, from the frames
-- their ids, and which of them were acknowledged where. Every packet is read for the first time in the order of the
-- capture; what was known then is kept, so that it is read again with the same result (`visit`).

return function(porous)
    local Connections = {}
    Connections.__index = Connections

    -- A receiver reports no ids further behind the newest than this, or than N_P (docs/wire.md, "Nonces").
    local LEAST_REPORTED = 256
    -- Of a sealed message 2: the length of the connection id, and the tag.
    local MESSAGE_2 = 17

    -- What goes to one host of a connection.
    local function new_flow()
        return { next_frame = 0, next_acknowledged = 0, frames = {}, waiting = {} }
    end

    function Connections.new()
        local state = {
            visits = {},     -- by packet: what was known when it was read first
            hosts = {},      -- by nonce: what a host has said of itself in its long forms
            by_nonces = {},  -- by both nonces: connections that have not ended
            routes = {},     -- by addresses: connections and their receivers, the newest last
            ids = {},        -- by address: connections and their receivers by the connection id
        }
        return setmetatable(state, Connections)
    end

    -- The addresses that a packet names.
    function Connections.addresses(pinfo)
        return {
            src = tostring(pinfo.src) .. " " .. pinfo.src_port,
            dst = tostring(pinfo.dst) .. " " .. pinfo.dst_port,
        }
    end

    -- A packet of the capture may have several datagrams, in tunnels.
    local function key_of_packet(pinfo)
        return table.concat({ pinfo.number, tostring(pinfo.src), pinfo.src_port, pinfo.dst_port }, " ")
    end

    -- True if the packet was read before.
    function Connections:is_known(pinfo)
        return self.visits[key_of_packet(pinfo)] ~= nil
    end

    -- The entry of a packet, and whether it is new.
    function Connections:visit(pinfo)
        local key = key_of_packet(pinfo)
        local visit = self.visits[key]
        local is_new = visit == nil
        if is_new then
            visit = Connections.addresses(pinfo)
            visit.number, visit.time = pinfo.number, pinfo.rel_ts
            self.visits[key] = visit
        end
        return visit, is_new
    end

    -- Notes that datagrams from one address to another may be of this connection.
    function Connections:add_route(connection, src, dst, receiver)
        local key = src .. " > " .. dst
        local routes = self.routes[key] or {}
        self.routes[key] = routes
        local newest = routes[#routes]
        if newest and newest.connection == connection and newest.receiver == receiver then
            return
        end
        for index, route in ipairs(routes) do
            if route.connection == connection and route.receiver == receiver then
                table.remove(routes, index)
                break
            end
        end
        routes[#routes + 1] = { connection = connection, receiver = receiver }
    end

    -- The datagrams to an address that carry a connection id of it, whatever address they come from.
    function Connections:add_id(connection, dst, receiver)
        local id = self.hosts[receiver] and self.hosts[receiver].connection_id
        if id and #id > 0 then
            self.ids[dst] = self.ids[dst] or {}
            self.ids[dst][id] = { connection = connection, receiver = receiver }
        end
    end

    local function key_of(one, other)
        return one < other and one .. other or other .. one
    end

    -- The connection of two nonces, which an acknowledgement between these addresses names.
    function Connections:between(form, visit)
        local own, peer = form.nonce_self, form.nonce_peer
        local key = key_of(own, peer)
        local connection = self.by_nonces[key]
        if not connection then
            connection = { flows = { [own] = new_flow(), [peer] = new_flow() } }
            self.by_nonces[key] = connection
        end
        self:add_route(connection, visit.src, visit.dst, peer)
        self:add_route(connection, visit.dst, visit.src, own)
        self:add_id(connection, visit.dst, peer)
        self:add_id(connection, visit.src, own)
        return connection
    end

    -- Learns from a long form that is right.
    function Connections:learn(form, visit)
        if form.nonce_self and form.name ~= "REJ" then
            local host = self.hosts[form.nonce_self] or {}
            self.hosts[form.nonce_self] = host
            host.offer = form.offer or host.offer
            host.connection_id = form.connection_id or host.connection_id
        end
        if form.name == "ACK" or form.name == "ACK with AUTH" then
            local connection = self:between(form, visit)
            connection.is_sealed = form.name == "ACK with AUTH"
            -- A greeting of the listener is rare. Without one, the length of message 2 tells that of the id.
            local left = form.message == 2 and form.sealed_bytes and form.sealed_bytes - MESSAGE_2
            if left and left <= 20 then
                self.hosts[form.nonce_self].assumed_bytes = left
            end
        elseif form.name == "DISC" or form.name == "DISC_ACK" then
            -- Late datagrams still find the connection by their addresses.
            self.by_nonces[key_of(form.nonce_self, form.nonce_peer)] = nil
        end
    end

    -- True if the bytes, from `at` on, begin with the connection id of the receiver, as far as it is known.
    function Connections:fits(route, bytes, at)
        local id = (self.hosts[route.receiver] or {}).connection_id
        return not id or bytes:sub(at + 1, at + #id) == id:sub(1, math.max(0, #bytes - at))
    end

    -- The connections to which a short form may belong whose connection id stands at `at`, the likeliest first.
    function Connections:candidates(visit, bytes, at)
        local found = {}
        local routes = self.routes[visit.src .. " > " .. visit.dst] or {}
        for index = #routes, 1, -1 do
            if self:fits(routes[index], bytes, at) then
                found[#found + 1] = routes[index]
            end
        end
        if #found == 0 and self.ids[visit.dst] then
            -- A peer that has another address now.
            for length = 1, 20 do
                local route = self.ids[visit.dst][bytes:sub(at + 1, at + length)]
                found[#found + 1] = route
            end
        end
        return found
    end

    -- True if a RESET between these addresses names the id of its sender.
    function Connections:knows_reset(visit, id)
        for _, route in ipairs(self.routes[visit.dst .. " > " .. visit.src] or {}) do
            if (self.hosts[route.receiver] or {}).connection_id == id then
                return true
            end
        end
        return false
    end

    local function nonces_of(connection, receiver)
        for nonce in pairs(connection.flows) do
            if nonce ~= receiver then
                return { nonce, receiver }
            end
        end
        -- An acknowledgement that names one nonce twice.
        return { receiver, receiver }
    end

    -- What both offers agree on, from those that were captured.
    local function agreement(one, other)
        one, other = one or other or {}, other or one or {}
        local log2_n_q = math.min(one.log2_n_q or 12, other.log2_n_q or 12)
        local log2_n_p = math.min(one.log2_n_p or 12, other.log2_n_p or 12)
        return {
            n_q = math.floor(2 ^ log2_n_q), n_p = math.floor(2 ^ log2_n_p),
            check = (one.check == "all" or other.check == "all") and "all" or "head",
            application_id = one.application_id or other.application_id,
            packet_id_bytes = log2_n_q <= 14 and 2 or 3,
        }
    end

    -- What the receiver of a short form knows.
    function Connections:context(route)
        local connection, receiver = route.connection, route.receiver
        local nonces = nonces_of(connection, receiver)
        local sender, host = self.hosts[nonces[1]] or {}, self.hosts[receiver] or {}
        local context = agreement(sender.offer, host.offer)
        context.route, context.nonces, context.is_sealed = route, nonces, connection.is_sealed
        context.next_frame = connection.flows[receiver].next_frame
        context.next_acknowledged = connection.flows[nonces[1]].next_acknowledged
        context.connection_id_bytes = host.connection_id and #host.connection_id
        if not host.connection_id then
            context.connection_id_bytes = porous.connection_id_bytes() or host.assumed_bytes
            context.is_assumed = not porous.connection_id_bytes() and host.assumed_bytes ~= nil
        end
        return context
    end

    -- Notes which frames of the other direction are acknowledged, for both packets.
    local function take_acknowledgement(flow, block, visit, n_p)
        flow.next_acknowledged = math.max(flow.next_acknowledged, block.largest + 1)
        visit.acknowledged = {}
        local waiting, oldest = {}, block.largest - math.max(n_p, LEAST_REPORTED)
        for _, frame in ipairs(flow.waiting) do
            if porous.acknowledges(block, frame.id) then
                frame.acknowledged_by = visit
                visit.acknowledged[#visit.acknowledged + 1] = frame
            elseif frame.id > oldest then
                waiting[#waiting + 1] = frame
            end
        end
        flow.waiting = waiting
    end

    -- Notes a frame that is right, once.
    function Connections:take_frame(form, context, visit)
        local connection, receiver = context.route.connection, context.route.receiver
        local flow = connection.flows[receiver]
        local frame = flow.frames[form.frame_id]
        if frame then
            visit.duplicate_of = frame.visit.number
        else
            frame = { id = form.frame_id, visit = visit }
            flow.frames[form.frame_id] = frame
            flow.waiting[#flow.waiting + 1] = frame
        end
        visit.frame = frame
        flow.next_frame = math.max(flow.next_frame, form.frame_id + 1)
        if form.ack then
            take_acknowledgement(connection.flows[context.nonces[1]], form.ack, visit, context.n_p)
        end
        self:add_route(connection, visit.src, visit.dst, receiver)
        self:add_route(connection, visit.dst, visit.src, context.nonces[1])
    end

    porous.Connections = Connections
end
