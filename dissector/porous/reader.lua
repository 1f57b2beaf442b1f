-- A cursor over the bytes of a datagram, and what a receiver refuses.
--
-- Wireshark runs every .lua file of its plugin folders by itself, and this one too. So a part is a function that does
-- nothing until porous.lua calls it.

return function(porous)
    local Refused = {}

    -- Ends the reading of a datagram that a sender would not have written. The causes are those of
    -- docs/vectors/README.md.
    function porous.refuse(cause, text)
        error(setmetatable({ cause = cause, text = text }, Refused), 0)
    end

    function porous.demand(condition, cause, text)
        if not condition then
            porous.refuse(cause, text)
        end
    end

    -- Calls the function. Gives what was refused, or nil, and lets every other error pass.
    function porous.attempt(call, ...)
        local done, problem = pcall(call, ...)
        if done then
            return nil
        end
        if getmetatable(problem) == Refused then
            return problem
        end
        error(problem, 0)
    end

    -- Bit `bit` of a byte. Arithmetic alone, as Lua's operators on bits differ between its versions.
    function porous.bit(byte, bit)
        return math.floor(byte / 2 ^ bit) % 2
    end

    local Reader = {}
    Reader.__index = Reader
    porous.Reader = Reader

    -- A reader of a whole datagram.
    function Reader.new(tvb)
        local reader = setmetatable({ tvb = tvb, at = 0, stop = tvb:len() }, Reader)
        reader.bytes = tvb:raw(0, tvb:len())
        -- True if the capture has not all bytes of the datagram.
        reader.is_cut = tvb:len() < tvb:reported_len()
        return reader
    end

    -- A reader of the next `count` bytes, or of what is there of them. This reader goes on behind them.
    function Reader:part(count)
        local stop = math.min(self.at + count, self.stop)
        local part = setmetatable({ tvb = self.tvb, bytes = self.bytes, at = self.at, stop = stop }, Reader)
        part.is_cut = self.is_cut and self.at + count > self.stop
        self.at = stop
        return part
    end

    function Reader:left()
        return self.stop - self.at
    end

    -- The next byte, which stays; nil at the end.
    function Reader:peek()
        if self.at < self.stop then
            return self.bytes:byte(self.at + 1)
        end
    end

    function Reader:end_here(what)
        if self.is_cut then
            porous.refuse("not captured", what .. " and what follows was not captured")
        end
        porous.refuse("truncated", "the end comes before the end of " .. what)
    end

    -- The range of the next bytes in Wireshark's buffer.
    function Reader:take(count, what)
        if count > self:left() then
            self:end_here(what)
        end
        self.at = self.at + count
        return self.tvb(self.at - count, count)
    end

    -- The range from a place up to here.
    function Reader:since(start)
        return self.tvb(start, self.at - start)
    end

    -- The bytes of the range that was taken last, as a string.
    function Reader:string(range)
        return self.bytes:sub(self.at - range:len() + 1, self.at)
    end

    -- A number of up to six bytes, and its range.
    function Reader:number(size, what)
        local range, value = self:take(size, what), 0
        for index = self.at, self.at - size + 1, -1 do
            value = value * 256 + self.bytes:byte(index)
        end
        return value, range
    end

    -- Seven bits a byte from the low end, in as few bytes as possible, up to 32 bits.
    function Reader:varint(what)
        local start, value = self.at, 0
        for index = 0, 4 do
            local byte = self:number(1, what)
            value = value + byte % 128 * 128 ^ index
            if byte < 128 then
                porous.demand(value < 2 ^ 32, "bad value", what .. " has more than 32 bits")
                porous.demand(index == 0 or byte ~= 0, "not canonical", what .. " has more bytes than it needs")
                return math.floor(value), self:since(start)
            end
        end
        porous.refuse("bad value", what .. " has more than 32 bits")
    end

    -- True if all that is left is zeros.
    function Reader:is_zero()
        return not self.bytes:sub(self.at + 1, self.stop):find("[^\0]")
    end
end
