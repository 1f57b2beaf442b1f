-- Acknowledgements (docs/wire.md, "Acknowledgements"): which frames of the other direction have come.

return function(porous)
    local fields, demand, bit = porous.fields, porous.demand, porous.bit

    local MAP_IDS = 32
    local MOST_RANGES = 16

    -- The delay is m * 2^e * 125 microseconds.
    local function delay_time(byte)
        local units = byte % 32 * 2 ^ math.floor(byte / 32)
        return NSTime.new(0, math.floor(units * 125000))
    end

    local function add_delay(node, byte, range)
        node:add(fields["ack.delay"], range, byte)
        local item = node:add(fields["ack.delay_time"], range, delay_time(byte))
        item:set_generated()
        if byte == 0xff then
            item:append_text(" or longer")
        end
    end

    -- The low bytes of the newest id, and the whole of it where the connection is known.
    local function read_largest(block, reader, node, base)
        local low, range = reader:number(block.width, "the newest id")
        if not base then
            node:add(fields["ack.largest_low"], range, low)
            return
        end
        block.largest = porous.integrity.expand(low, block.width, base, "the newest id")
        node:add(fields["ack.largest"], range, porous.integrity.wide(block.largest))
    end

    -- Bit i of the map is 1 if `largest - 1 - i` was received. Bytes that are left out are FF.
    local function read_map(block, reader, node, size)
        local range = reader:take(size, "the map")
        local map = reader:string(range)
        if size > 0 then
            node:add(fields["ack.map"], range)
            demand(map:byte(size) ~= 0xff, "not canonical", "the map ends with FF")
        end
        for index = 0, 8 * size - 1 do
            local is_missing = bit(map:byte(math.floor(index / 8) + 1), index % 8) == 0
            if is_missing and block.largest then
                local id = block.largest - 1 - index
                demand(id >= 0, "bad value", "an id below 0 is missing")
                block.missing[id] = true
                node:add(fields["ack.missing"], range, porous.integrity.wide(id)):set_generated()
            end
        end
    end

    local function read_ranges(block, reader, node, count)
        local lowest = block.largest and block.largest - MAP_IDS
        for index = 1, count do
            local start = reader.at
            local gap, gap_range = reader:varint("a gap")
            local length, length_range = reader:varint("the length of a range")
            demand(length >= 1, "bad value", "an empty range")
            demand(gap >= 1 or index == 1, "not canonical", "a gap of 0 that is not the first")
            local item = node:add(fields["ack.ranges"], reader:since(start))
            item:add(fields["ack.ranges.gap"], gap_range, gap)
            item:add(fields["ack.ranges.length"], length_range, length)
            if lowest then
                local newest = lowest - gap - 1
                lowest = lowest - gap - length
                block.ranges[index] = { lowest, newest }
                item:append_text(string.format(": %d to %d", lowest, newest))
            end
        end
        demand(not lowest or lowest >= 0 or count == 0, "bad value", "a range below 0")
    end

    local function read_extension(block, reader, node)
        local n, range = reader:number(1, "the byte of ranges")
        local count = n % 32
        demand(n ~= 0, "not canonical", "a byte of ranges that says nothing")
        demand(count <= MOST_RANGES and bit(n, 5) == 0, "bad value", "more than 16 ranges, or bit 5")
        if bit(n, 7) == 1 then
            node:add(fields["ack.newest_is_ecn_capable"], range, true)
        end
        if bit(n, 6) == 1 then
            local marks, marks_range = reader:varint("the marks")
            node:add(fields["ack.marks"], marks_range, marks)
            demand(marks >= 1, "not canonical", "no marks are not told")
        end
        read_ranges(block, reader, node, count)
    end

    -- The acknowledgement. `base` is one past the newest id that was acknowledged before, nil if that is not known.
    function porous.read_acknowledgement(reader, tree, base)
        local start = reader.at
        local node = tree:add(fields.ack, reader.tvb(start, math.min(1, reader:left())))
        local head, range = reader:number(1, "the head of the acknowledgement")
        local block = { width = math.floor(head / 64) + 1, missing = {}, ranges = {}, node = node }
        local map_bytes = math.floor(head / 8) % 8
        node:add(fields["ack.largest_bytes"], range, block.width)
        node:add(fields["ack.nonce_sum"], range, bit(head, 0))
        demand(map_bytes <= 4, "bad value", "a map of more than 4 bytes")
        read_largest(block, reader, node, base)
        if bit(head, 2) == 1 then
            add_delay(node, reader:number(1, "the delay"))
        end
        read_map(block, reader, node, map_bytes)
        if bit(head, 1) == 1 then
            read_extension(block, reader, node)
        end
        node:set_len(reader.at - start)
        if block.largest then
            node:append_text(string.format(" of %d", block.largest))
        end
        return block
    end

    -- The whole newest id of the acknowledgement that the reader is at; the reader stays. The check covers this id.
    function porous.peek_acknowledged(reader, base)
        local start = reader.at
        local width = math.floor(reader:number(1, "the head of the acknowledgement") / 64) + 1
        local low = reader:number(width, "the newest id")
        reader.at = start
        return porous.integrity.expand(low, width, base, "the newest id")
    end

    -- True if the block acknowledges the id.
    function porous.acknowledges(block, id)
        if id > block.largest - MAP_IDS - 1 then
            return id <= block.largest and not block.missing[id]
        end
        for _, range in ipairs(block.ranges) do
            if id >= range[1] and id <= range[2] then
                return true
            end
        end
        return false
    end
end
