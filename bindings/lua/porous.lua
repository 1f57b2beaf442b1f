-- porous for LuaJIT: packets over UDP for games and other things that happen now. README.md shows how to begin.
--
-- A function answers what is asked for, or true. If it fails, it answers nil, a text that says what to do, and the
-- number of the POROUS_ERR_; if just nothing is there, nil alone. Times are microseconds. Peers are strings, to be
-- compared and to be keys of tables; addresses are strings as "192.0.2.1:4000".

local ffi = require("ffi")
local header = require("porous_cdef")
ffi.cdef(header.declarations)

-- The constants of porous.h without POROUS_, as porous.RELIABLE; its functions are in porous.C.
local porous = {}
for name, number in pairs(header.constants) do porous[name] = number end
local C = ffi.load(os.getenv("POROUS_LIB") or "porous")
porous.C = C

-- Of a call that answers a count.
local function counted(status)
  if status >= 0 then return status end
  return nil, ffi.string(C.porous_status_text(status)), status
end

-- Of a call that answers 0 when it is done.
local function done(status)
  if status >= 0 then return true end
  return counted(status)
end

-- Of a call that answers 1 if something is there.
local function found(status)
  if status > 0 then return true end
  if status < 0 then return counted(status) end
end

assert(done(C.porous_check_abi(porous.ABI)))

local function microseconds(time)
  return time == math.huge and 0xffffffffffffffffULL or ffi.cast("uint64_t", time or 0)
end

-- LuaJIT has a number of 64 bits as an object, and each copy would be another key of a table: so names are strings.
local name = ffi.new("union { porous_peer peer; uint32_t half[2]; }")

local function peer_of(number)
  name.peer = number
  return ("%08x%08x"):format(name.half[0], name.half[1])
end

local function number_of(peer)
  name.half[0], name.half[1] = tonumber(peer:sub(1, 8), 16), tonumber(peer:sub(9), 16)
  return name.peer
end

-- The words of constants that begin alike, by their numbers: "by_peer" for REASON_BY_PEER.
local function words(begin)
  local all = {}
  for constant, number in pairs(header.constants) do
    local word = constant:match("^" .. begin .. "(.+)$")
    if word then all[number] = word:lower() end
  end
  return all
end

local EVENTS, OUTCOMES, REASONS, STATES = words("EVENT_"), words("OUTCOME_"), words("REASON_"), words("STATE_")

-- Addresses for hosts without a socket are "own:" and up to 24 bytes.
local function parsed(text, address)
  local own = text:match("^own:(.*)$")
  if not own then return done(C.porous_address_parse(text, address)) end
  if #own > 24 then return counted(porous.ERR_ADDRESS) end
  address.kind, address.len = porous.ADDRESS_OWN, #own
  ffi.copy(address.bytes, own, #own)
  return true
end

local function written(address)
  if address.kind == porous.ADDRESS_NONE then return nil end
  if address.kind == porous.ADDRESS_OWN then return "own:" .. ffi.string(address.bytes, address.len) end
  local text = ffi.new("char[64]")
  local length, why, status = counted(C.porous_address_format(address, text, 64))
  if not length then return nil, why, status end
  return ffi.string(text, length)
end

-- Addresses in an array, and their number.
local function array_of(addresses)
  if type(addresses) == "string" then addresses = { addresses } end
  local array = ffi.new("porous_address[?]", #addresses)
  for at, text in ipairs(addresses) do
    local fine, why, status = parsed(text, array[at - 1])
    if not fine then return nil, why, status end
  end
  return array, #addresses
end

-- A configuration of a table of its fields, and its channels, which must live as long. Other fields are an error.
local function config_of(fields)
  local config, channels = ffi.new("porous_config"), nil
  assert(done(C.porous_config_init(config, ffi.sizeof(config), fields and fields.preset or porous.PRESET_DEFAULT)))
  for field, value in pairs(fields or {}) do
    if field == "channels" then
      channels = ffi.new("porous_channel[?]", #value, value)
      config.channels, config.channel_count = channels, #value
    elseif field == "suites" then
      -- One value alone would fill the array.
      for at = 1, 4 do config.suites[at - 1] = value[at] or 0 end
    else
      config[field] = value
    end
  end
  return config, channels
end

local Host = {}
Host.__index = Host

local function made(status, out)
  if status < 0 then return counted(status) end
  local host = { handle = ffi.gc(out[0], C.porous_host_free), room = 65536, what = ffi.new("porous_received") }
  host.buffer = ffi.new("uint8_t[?]", host.room)
  host.event = ffi.new("porous_event")
  host.event.size = ffi.sizeof(host.event)
  return setmetatable(host, Host)
end

-- A host on a UDP socket, at an address as "0.0.0.0:4000"; with port 0 the system chooses one.
function porous.bind(address, fields)
  local out, config, channels = ffi.new("porous_host *[1]"), config_of(fields)
  return made(C.porous_udp_bind(config, address, out), out, channels)
end

-- A host without a socket, whose datagrams and time the program carries; the seed are 32 secret bytes.
function porous.core(seed, fields)
  assert(#seed == 32, "a seed has 32 bytes")
  local out, config, channels = ffi.new("porous_host *[1]"), config_of(fields)
  return made(C.porous_core_new(config, seed, out), out, channels)
end

-- Frees the host. Later calls answer that a pointer is NULL.
function Host:free()
  local handle = self.handle
  self.handle = nil
  return done(C.porous_host_free(handle and ffi.gc(handle, nil)))
end

-- Hosts on a socket.

function Host:step() return done(C.porous_udp_step(self.handle)) end
function Host:transmit() return done(C.porous_udp_transmit(self.handle)) end
function Host:wait(at_most) return done(C.porous_udp_wait(self.handle, microseconds(at_most))) end
function Host:close(code, flush) return done(C.porous_udp_close(self.handle, code or 0, microseconds(flush))) end

function Host:address()
  local address = ffi.new("porous_address")
  local fine, why, status = done(C.porous_udp_address(self.handle, address))
  if not fine then return nil, why, status end
  return written(address)
end

-- Puts up to 32 bytes behind each datagram to a proxy, which knows the server by them and removes them: before
-- connect(). Without bytes there is no suffix.
function Host:set_suffix(to, suffix)
  local array, why, status = array_of(to)
  if not array then return nil, why, status end
  return done(C.porous_udp_set_suffix(self.handle, array, suffix, #suffix))
end

-- Hosts without a socket.

function Host:time(now) return done(C.porous_core_time(self.handle, microseconds(now))) end
function Host:timeout() return done(C.porous_core_timeout(self.handle)) end

-- Answers 0, or why the datagram was ignored, which is no error.
function Host:input(from, datagram, ecn)
  local array, why, status = array_of(from)
  if not array then return nil, why, status end
  return counted(C.porous_core_input(self.handle, array, ecn or 0, datagram, #datagram))
end

-- The next datagram to be sent, where it goes, and its two bits of ECN.
function Host:output()
  local transmit = ffi.new("porous_transmit")
  local there, why, status = found(C.porous_core_output(self.handle, transmit, self.buffer, self.room))
  if not there then return nil, why, status end
  return ffi.string(self.buffer, tonumber(transmit.len)), written(transmit.to), transmit.ecn
end

-- All hosts.

function Host:listen(policy) return done(C.porous_listen(self.handle, policy or porous.LISTEN_OPEN)) end

-- Begins to connect to an address, or to one of several, and answers the peer. "connected" or "disconnected" follows.
function Host:connect(addresses, greeting)
  local array, count, wrong = array_of(addresses)
  if not array then return nil, count, wrong end
  local out, said = ffi.new("porous_peer[1]"), greeting or ""
  local fine, why, status = done(C.porous_connect_any(self.handle, array, count, said, #said, out))
  if not fine then return nil, why, status end
  return peer_of(out[0])
end

function Host:accept(peer) return done(C.porous_accept(self.handle, number_of(peer))) end

function Host:refuse(peer, said)
  return done(C.porous_refuse(self.handle, number_of(peer), said or "", #(said or "")))
end

function Host:disconnect(peer, code, flush)
  return done(C.porous_disconnect(self.handle, number_of(peer), code or 0, microseconds(flush)))
end

function Host:is_empty() return C.porous_is_empty(self.handle) > 0 end
function Host:state(peer) return STATES[C.porous_peer_state(self.handle, number_of(peer))] end

function Host:greeting(peer)
  local said = ffi.new("char[255]")
  local length, why, status = counted(C.porous_peer_greeting(self.handle, number_of(peer), said, 255))
  if not length then return nil, why, status end
  return ffi.string(said, length)
end

-- What is known of a peer: the fields of porous_peer_stats.
function Host:info(peer)
  local stats = ffi.new("porous_peer_stats")
  stats.size = ffi.sizeof(stats)
  local fine, why, status = done(C.porous_peer_info(self.handle, number_of(peer), stats))
  if not fine then return nil, why, status end
  return stats
end

-- The next event: its type as a word, the peer, and what else belongs to the type.
function Host:poll()
  local event = self.event
  local there, why, status = found(C.porous_poll_event(self.handle, event))
  if not there then return nil, why, status end
  return {
    type = EVENTS[event.type] or "other",
    peer = peer_of(event.peer),
    address = written(event.address),
    from = written(event.from),
    token = tonumber(event.token),
    outcome = OUTCOMES[event.outcome],
    reason = REASONS[event.reason],
    code = event.code,
    undelivered = event.undelivered,
    datagram_bytes = event.datagram_bytes,
    data = ffi.string(event.data, event.data_len),
  }
end

-- for event in host:events() do … end
function Host:events()
  return function() return (self:poll()) end
end

-- Queues a packet: reliable and on channel 0, unless told otherwise. `options` may have ttl_us, receipt, key and
-- redundancy.
function Host:send(peer, data, channel, mode, options)
  mode = mode or porous.RELIABLE
  if not options then
    return done(C.porous_send(self.handle, number_of(peer), channel or 0, mode, data, #data))
  end
  local how = ffi.new("porous_send_options", { size = ffi.sizeof("porous_send_options"), mode = mode })
  for field, value in pairs(options) do how[field] = value end
  how.has_receipt, how.has_key = options.receipt and 1 or 0, options.key and 1 or 0
  return done(C.porous_send_with(self.handle, number_of(peer), channel or 0, data, #data, how))
end

function Host:cancel(peer, channel, receipt)
  return found(C.porous_cancel(self.handle, number_of(peer), channel, receipt))
end

-- The next packet, its channel and its mode.
function Host:receive(peer)
  local what, answer = self.what, nil
  repeat
    answer = C.porous_receive(self.handle, number_of(peer), what, self.buffer, self.room)
    local is_small = answer == porous.ERR_SMALL
    if is_small then
      self.room = tonumber(what.len)
      self.buffer = ffi.new("uint8_t[?]", self.room)
    end
  until not is_small
  local there, why, status = found(answer)
  if not there then return nil, why, status end
  return ffi.string(self.buffer, tonumber(what.len)), what.channel, what.mode
end

-- for packet, channel, mode in host:packets(peer) do … end
function Host:packets(peer)
  return function() return self:receive(peer) end
end

-- Sealed connections: the configurations of both hosts have suites. All keys are strings of 32 bytes.

-- A secret, which the library reads 32 bytes of.
local function secret_of(secret)
  assert(type(secret) ~= "string" or #secret == 32, "a secret has 32 bytes")
  return secret
end

-- As connect(), with what the client brings: `ticket`, the text of a backend, or `psk` and `psk_number`; `server_key`
-- and `greeting`.
function Host:connect_sealed(addresses, with)
  local array, count, wrong = array_of(addresses)
  if not array then return nil, count, wrong end
  local credentials = ffi.new("porous_credentials", { size = ffi.sizeof("porous_credentials") })
  local ticket, out = ffi.new("porous_ticket *[1]"), ffi.new("porous_peer[1]")
  if with.ticket then
    local fine, why, status = done(C.porous_ticket_from_text(with.ticket, ticket))
    if not fine then return nil, why, status end
    credentials.ticket = ticket[0]
  end
  credentials.psk, credentials.psk_number = secret_of(with.psk), with.psk_number or 0
  credentials.server_key, credentials.server_key_len = with.server_key, #(with.server_key or "")
  credentials.greeting, credentials.greeting_len = with.greeting, #(with.greeting or "")
  local answer = C.porous_connect_sealed(self.handle, array, count, credentials, out)
  C.porous_ticket_free(ticket[0])
  local fine, why, status = done(answer)
  if not fine then return nil, why, status end
  return peer_of(out[0])
end

-- Secrets by their numbers in an array, and how many they are.
local function keys_of(secrets)
  local all = {}
  for number, secret in pairs(secrets or {}) do all[#all + 1] = { number, secret } end
  local array = ffi.new("porous_key[?]", #all)
  for at, key in ipairs(all) do
    array[at - 1].number = key[1]
    ffi.copy(array[at - 1].bytes, secret_of(key[2]), 32)
  end
  return array, #all
end

-- Says how a server seals: its secret key `identity`, secrets of clients `psks` and of backends `token_keys` by their
-- numbers, and fields of porous_security.
function Host:set_security(how)
  local security = ffi.new("porous_security", { size = ffi.sizeof("porous_security") })
  local psks, psk_count = keys_of(how.psks)
  local token_keys, token_key_count = keys_of(how.token_keys)
  for field, value in pairs(how) do
    if field ~= "identity" and field ~= "psks" and field ~= "token_keys" then security[field] = value end
  end
  security.has_server_id = how.server_id and 1 or 0
  security.psks, security.psk_count = psks, psk_count
  security.token_keys, security.token_key_count = token_keys, token_key_count
  security.identities, security.identity_count = secret_of(how.identity), how.identity and 1 or 0
  return done(C.porous_set_security(self.handle, security))
end

-- A new secret, and the public key that belongs to it.
function porous.generate_key()
  local secret, public = ffi.new("uint8_t[32]"), ffi.new("uint8_t[32]")
  assert(done(C.porous_key_generate(secret)))
  assert(done(C.porous_public_key(secret, public)))
  return ffi.string(secret, 32), ffi.string(public, 32)
end

return porous
