-- The check of plain short forms, and ids from their low bytes (docs/wire.md, "Integrity" and "Frame ids").

return function(porous)
    local integrity = {}
    porous.integrity = integrity

    -- Lua 5.2 has functions for bits, later versions have operators, which Lua 5.2 cannot compile.
    local bits = bit32 or load([[return {
        band = function(a, b) return a & b end,
        bxor = function(a, b) return a ~ b end,
        rshift = function(a, n) return a >> n end,
    }]])()

    -- The one id in [base - 3R, base + R) whose low `width` bytes are these. `base` is one past the newest id, and R
    -- a quarter of the ids that this width can tell apart.
    function integrity.expand(low, width, base, what)
        local quarter = 2 ^ (8 * width - 2)
        local first = base - 3 * quarter
        local id = first + (low - first) % (4 * quarter)
        porous.demand(id >= 0, "bad value", what .. " would be below 0")
        return math.floor(id)
    end

    -- A number up to 2^53 as Wireshark's integer of 64 bits.
    function integrity.wide(number)
        return UInt64.new(number % 2 ^ 32, math.floor(number / 2 ^ 32))
    end

    -- A number as bytes, the lowest first.
    local function pack(number, size)
        local bytes = {}
        for index = 1, size do
            bytes[index] = string.char(math.floor(number % 256))
            number = math.floor(number / 256)
        end
        return table.concat(bytes)
    end

    -- The first 8 bytes of a string, the lowest first.
    local function unpack64(text)
        local low, high = 0, 0
        for index = 4, 1, -1 do
            low, high = low * 256 + text:byte(index), high * 256 + text:byte(index + 4)
        end
        return UInt64.new(low, high)
    end

    local function siphash_round(v)
        v[1], v[3] = v[1] + v[2], v[3] + v[4]
        v[2], v[4] = v[2]:rol(13):bxor(v[1]), v[4]:rol(16):bxor(v[3])
        v[1] = v[1]:rol(32)
        v[3], v[1] = v[3] + v[2], v[1] + v[4]
        v[2], v[4] = v[2]:rol(17):bxor(v[3]), v[4]:rol(21):bxor(v[1])
        v[3] = v[3]:rol(32)
    end

    -- SipHash with one round for each word and three at the end.
    local function siphash13(k0, k1, words)
        local v = {
            k0:bxor(UInt64.new(0x70736575, 0x736f6d65)),
            k1:bxor(UInt64.new(0x6e646f6d, 0x646f7261)),
            k0:bxor(UInt64.new(0x6e657261, 0x6c796765)),
            k1:bxor(UInt64.new(0x79746573, 0x74656462)),
        }
        for _, word in ipairs(words) do
            v[4] = v[4]:bxor(word)
            siphash_round(v)
            v[1] = v[1]:bxor(word)
        end
        v[3] = v[3]:bxor(UInt64.new(0xff, 0))
        for _ = 1, 3 do
            siphash_round(v)
        end
        return v[1]:bxor(v[2]):bxor(v[3]):bxor(v[4])
    end

    -- Of each byte the remainder of CRC-32C (Castagnoli).
    local castagnoli = {}
    for byte = 0, 255 do
        local crc = byte
        for _ = 1, 8 do
            local carry = crc % 2
            crc = bits.rshift(crc, 1)
            if carry == 1 then
                crc = bits.bxor(crc, 0x82f63b78)
            end
        end
        castagnoli[byte] = crc
    end

    local function crc32c(text)
        local crc = 0xffffffff
        for index = 1, #text do
            local byte = bits.band(bits.bxor(crc, text:byte(index)), 0xff)
            crc = bits.bxor(bits.rshift(crc, 8), castagnoli[byte])
        end
        return bits.bxor(crc, 0xffffffff)
    end

    -- The check of a short form `form`, as a number. The nonces are strings of 8 bytes, that of the sender first;
    -- `acknowledged` is nil if the form acknowledges nothing.
    function integrity.check(context, frame_id, acknowledged, form)
        local sender, receiver = context.nonces[1], context.nonces[2]
        if context.check == "head" then
            local words = { integrity.wide(frame_id) }
            words[#words + 1] = acknowledged and integrity.wide(acknowledged)
            local length = 8 * #words + 1
            words[#words + 1] = UInt64.new(form:byte(1), length * 2 ^ 24)
            return siphash13(unpack64(sender), unpack64(receiver), words):lower()
        end
        local ids = pack(frame_id, 8) .. (acknowledged and pack(acknowledged, 8) or "")
        return crc32c(sender .. receiver .. ids .. form)
    end
end
