-- Offers: the parameters of REQ and ACK (docs/wire.md, "REQ and ACK").

return function(porous)
    local fields, demand, bit = porous.fields, porous.demand, porous.bit
    local CHECKS = { [0] = "head", [1] = "all" }

    -- Parameters that are one number: the name, the size and the least value.
    local NUMBERS = {
        [3] = { "longest_datagram", 2, 512 },
        [4] = { "longest_packet", 4, 1 },
        [5] = { "receive_budget", 4, 0 },
        [7] = { "send_rate", 4, 1 },
        [8] = { "receive_rate", 4, 1 },
        [10] = { "extensions", 4, 0 },
        [11] = { "longest_datagram_of_path", 2, 0 },
        [13] = { "timeout_ms", 4, 1 },
    }

    -- How the other parameters are read, by their types.
    local readers = {}

    readers[1] = function(value, tree, offer)
        demand(value:left() == 8, "bad value", "an application id has 8 bytes")
        local range = value:take(8)
        offer.application_id = "0x" .. range:le_uint64():tohex()
        tree:add(fields["offer.application_id"], range, range:le_uint64())
    end

    readers[2] = function(value, tree, offer)
        demand(value:left() >= 2, "bad value", "channels have 2 bytes or more")
        local count, range = value:number(1)
        tree:add(fields["offer.channels"], range, count)
        demand(count >= 1 and value:left() == math.ceil(count / 4), "bad value", "not two bits for each channel")
        for group = 0, math.ceil(count / 4) - 1 do
            local four, place = value:number(1)
            for channel = 4 * group, 4 * group + 3 do
                local high, reserved = bit(four, channel % 4 * 2), bit(four, channel % 4 * 2 + 1)
                demand(reserved == 0 and (high == 0 or channel < count), "reserved", "a reserved bit of the channels")
                if high == 1 then
                    tree:add(fields["offer.high_priority"], place, channel)
                end
            end
        end
        offer.channels = count
    end

    readers[6] = function(value, tree, offer)
        demand(value:left() == 2, "bad value", "the logarithms of N_P and N_Q have a byte each")
        for _, name in ipairs({ "log2_n_p", "log2_n_q" }) do
            local log, range = value:number(1)
            local item = tree:add(fields["offer." .. name], range, log)
            demand(log >= 4 and log <= 16, "bad value", name .. " is not in 4 to 16")
            item:append_text(string.format(" (%d)", 2 ^ log))
            offer[name] = log
        end
    end

    readers[9] = function(value, tree, offer)
        demand(value:left() == 1, "bad value", "the kind of check has one byte")
        local kind, range = value:number(1)
        demand(CHECKS[kind], "bad value", "an unknown kind of check")
        tree:add(fields["offer.check"], range, CHECKS[kind])
        offer.check = CHECKS[kind]
    end

    readers[12] = function(value, tree, offer)
        demand(value:left() >= 1 and value:left() <= 4, "bad value", "there are 1 to 4 suites")
        local seen = {}
        while value:left() > 0 do
            local suite, range = value:number(1)
            tree:add(fields["offer.suites"], range, suite)
            demand(suite > 0 and not seen[suite], "bad value", "suite 0, or a suite twice")
            seen[suite] = true
        end
        offer.seals = true
    end

    readers[14] = function(value, tree, offer)
        demand(offer.may_greet, "unknown type", "no place for a greeting")
        demand(value:left() >= 1, "bad value", "an empty greeting")
        tree:add(fields["offer.greeting"], value:take(value:left()))
    end

    local function read_number(kind, value, tree, offer)
        local name, size, least = NUMBERS[kind][1], NUMBERS[kind][2], NUMBERS[kind][3]
        demand(value:left() == size, "bad value", name .. " has " .. size .. " bytes")
        local number, range = value:number(size)
        local item = tree:add(fields["offer." .. name], range, number)
        if name:find("_rate") and number == 0xffffffff then
            item:append_text(" (no limit)")
        end
        demand(number >= least, "bad value", name .. " is less than " .. least)
        offer[name] = number
    end

    -- The bits 24 to 31 are random, and the others are extensions that nobody knows yet.
    local function note_extensions(tree, offer)
        if offer.extensions % 2 ^ 24 ~= 0 then
            local text = string.format("Unknown extensions 0x%06x", offer.extensions % 2 ^ 24)
            tree:add_proto_expert_info(porous.experts.extension, text)
        end
    end

    local function read_unknown(kind, whole, value, tree)
        local node = tree:add(fields["offer.unknown"], whole)
        node:append_text(": type " .. kind)
        node:add(fields["offer.unknown.type"], whole:range(0, 1), kind)
        node:add(fields["offer.unknown.value"], value:take(value:left()))
        node:add_proto_expert_info(porous.experts.parameter, "Unknown parameter " .. kind)
    end

    -- Types 1 to 10 are all present in this order; the others are in ascending order.
    local function read_parameter(reader, tree, offer, last)
        local start = reader.at
        local kind = reader:number(1, "the type of a parameter")
        local length = reader:number(1, "the length of a parameter")
        local expected = last < 10 and kind == last + 1 or last >= 10 and kind > last
        demand(expected, "unknown type", "parameter " .. kind .. " behind parameter " .. last)
        local at = reader.at
        reader:take(length, "parameter " .. kind)
        reader.at = at
        local value = reader:part(length)
        if NUMBERS[kind] then
            read_number(kind, value, tree, offer)
        elseif readers[kind] then
            readers[kind](value, tree, offer)
        else
            read_unknown(kind, reader:since(start), value, tree)
        end
        return kind
    end

    -- The offer up to the end of the form.
    function porous.read_offer(reader, tree, may_greet)
        local node = tree:add(fields.offer, reader.tvb(reader.at, reader:left()))
        local offer, last = { may_greet = may_greet }, 0
        while reader:left() > 0 do
            last = read_parameter(reader, node, offer, last)
        end
        if last < 10 then
            reader:end_here("parameter 10")
        end
        demand(offer.receive_budget >= offer.longest_packet + 64, "bad value", "a budget below the longest packet")
        local of_path = offer.longest_datagram_of_path
        demand(not of_path or of_path > offer.longest_datagram, "bad value", "a path of no longer datagrams")
        note_extensions(node, offer)
        node:append_text(string.format(": application %s, %d channels", offer.application_id, offer.channels))
        return offer
    end
end
