-- Tests of porous.lua.
--
-- usage: POROUS_LIB=…/libporous.so luajit test.lua

local ffi = require("ffi")
local porous = require("porous")

local tests = {}

-- The value of a call that must fail, with this number.
local function fails(number, value, text, status)
  assert(value == nil and #text > 10 and status == number, ("%s, not %s"):format(status, number))
end

-- A listener and a client without sockets, and a network between them that loses one of `lose` datagrams.
local function pair(fields, lose)
  local hosts = { s = assert(porous.core(("s"):rep(32), fields)), c = assert(porous.core(("c"):rep(32), fields)) }
  assert(hosts.s:listen())
  local now, count, under_way = 0, 0, { s = {}, c = {} }
  local other = { s = "c", c = "s" }

  local function turn()
    now = now + 5000
    for name, host in pairs(hosts) do
      assert(host:time(now))
      for _, datagram in ipairs(under_way[name]) do
        count = count + 1
        if not lose or count % lose ~= 0 then assert(host:input("own:" .. other[name], datagram[1], datagram[2])) end
      end
      under_way[name] = {}
    end
    for name, host in pairs(hosts) do
      assert(host:timeout())
      for datagram, to, ecn in function() return host:output() end do
        assert(to == "own:" .. other[name])
        table.insert(under_way[other[name]], { datagram, ecn })
      end
    end
  end

  -- Takes turns until a function answers something.
  local function on(answer)
    for _ = 1, 8000 do
      local given = answer()
      if given then return given end
      turn()
    end
    error("not in time", 2)
  end

  -- The next event of a type.
  local function event(host, kind)
    return on(function()
      for event in host:events() do
        if event.type == kind then return event end
      end
    end)
  end

  return { server = hosts.s, client = hosts.c, on = on, event = event }
end

local function connected(fields, lose)
  local both = pair(fields, lose)
  both.there = assert(both.client:connect("own:s", "it is me"))
  both.here = both.event(both.server, "connected").peer
  both.event(both.client, "connected")
  return both
end

function tests.declarations_are_those_of_the_header()
  local made = io.popen("luajit generate.lua ../../porous-ffi/include/porous.h")
  local text = made:read("*a")
  made:close()
  local file = assert(io.open("porous_cdef.lua"))
  assert(#text > 10000 and text == file:read("*a"), "make porous_cdef.lua anew: generate.lua says how")
  file:close()
end

function tests.packets_arrive_in_their_order_though_datagrams_get_lost()
  local both = connected({ channel_count = 2 }, 7)
  for n = 1, 300 do
    local data = n .. ("."):rep(n % 50 == 0 and 4000 or 20)
    assert(both.client:send(both.there, data, 1, porous.RELIABLE))
  end
  local arrived = 0
  both.on(function()
    for packet, channel, mode in both.server:packets(both.here) do
      arrived = arrived + 1
      assert(packet:match("^%d+") == tostring(arrived) and channel == 1 and mode == porous.RELIABLE)
    end
    return arrived == 300
  end)
  assert(both.client:info(both.there).frames_lost > 0)
  assert(both.server:greeting(both.here) == "it is me")
end

function tests.packets_are_longer_than_the_buffer()
  local both = connected()
  assert(both.client:send(both.there, ("x"):rep(200000)))
  assert(both.on(function() return both.server:receive(both.here) end) == ("x"):rep(200000))
end

function tests.receipts_tell_what_became_of_a_packet()
  local both = connected()
  assert(both.client:send(both.there, "a\0b", 0, porous.PASSIVE, { receipt = 41 }))
  local event = both.event(both.client, "receipt")
  assert(event.token == 41 and event.outcome == "delivered" and event.peer == both.there)
  assert(both.server:receive(both.here) == "a\0b")
  assert(both.client:send(both.there, "old", 0, nil, { receipt = 43, key = 0 }))
  assert(both.client:send(both.there, "new", 0, nil, { key = 0 }))
  event = both.event(both.client, "receipt")
  assert(event.token == 43 and event.outcome == "cancelled")
  assert(both.on(function() return both.server:receive(both.here) end) == "new")
  assert(both.client:send(both.there, "x", 0, nil, { receipt = 42, ttl_us = 1000000 }))
  assert(both.client:cancel(both.there, 0, 42))
  assert(both.client:cancel(both.there, 0, 42) == nil)
  assert(both.event(both.client, "receipt").outcome == "cancelled")
end

function tests.the_program_decides_who_comes_in()
  local both = pair()
  assert(both.server:listen(porous.LISTEN_ASK))
  assert(both.client:connect({ "own:s" }))
  assert(both.server:refuse(both.event(both.server, "request").peer, "not you"))
  local event = both.event(both.client, "disconnected")
  assert(event.reason == "refused_application" and event.data == "not you")
  both.on(function() return both.client:is_empty() end)
  local peer = assert(both.client:connect("own:s"))
  assert(both.server:accept(both.event(both.server, "request").peer))
  assert(both.event(both.client, "connected").peer == peer)
end

function tests.peers_are_keys_and_end()
  local both = connected()
  local scores = { [both.there] = 1 }
  assert(both.client:state(both.there) == "connected")
  assert(both.client:disconnect(both.there, 7, 1000000))
  local event = both.event(both.client, "disconnected")
  assert(scores[event.peer] == 1 and event.reason == "by_us")
  assert(both.event(both.server, "disconnected").code == 7)
  fails(porous.ERR_UNKNOWN_PEER, both.client:send(both.there, "late"))
end

function tests.errors_say_what_to_do()
  fails(porous.ERR_CONFIG_WINDOW, porous.core(("x"):rep(32), { frame_window = 100 }))
  fails(porous.ERR_VALUE, porous.core(("\0"):rep(32)))
  fails(porous.ERR_ADDRESS, porous.core(("x"):rep(32)):connect("nowhere"))
  fails(porous.ERR_CANNOT_LISTEN, porous.core(("x"):rep(32), { preset = porous.PRESET_CLIENT }):listen())
  assert(not pcall(porous.core, ("x"):rep(32), { max_pears = 5 }))
  local host = porous.core(("x"):rep(32), { channels = { { priority = 1 }, { unordered = 1 } } })
  fails(porous.ERR_KIND, host:step())
  assert(host:poll() == nil and host:free() and host:free())
  fails(porous.ERR_NULL, host:poll())
end

function tests.sealed_hosts_prove_what_they_have()
  local secret, public = porous.generate_key()
  local psk = porous.generate_key()
  local both = pair({ suites = { porous.SUITE_CHACHA_POLY } })
  assert(both.server:set_security({ identity = secret, psks = { [4] = psk }, require_proof = 1 }))
  assert(both.client:connect_sealed("own:s", { server_key = public, psk = psk, psk_number = 4, greeting = "hi" }))
  both.event(both.client, "connected")
  assert(both.server:greeting(both.event(both.server, "connected").peer) == "hi")
  local other = pair({ suites = { porous.SUITE_CHACHA_POLY } })
  assert(other.server:set_security({ identity = secret, require_proof = 1 }))
  assert(other.client:connect_sealed("own:s", { server_key = public }))
  assert(other.event(other.client, "disconnected").reason == "refused_security")
  fails(porous.ERR_TICKET_BASE64, other.client:connect_sealed("own:s", { ticket = "?" }))
  assert(not pcall(other.client.connect_sealed, other.client, "own:s", { psk = "short", psk_number = 4 }))
  assert(not pcall(other.server.set_security, other.server, { identity = "short" }))
end

function tests.a_ticket_lets_its_client_in()
  local secret, public = porous.generate_key()
  local token_key = porous.generate_key()
  local both = pair({ suites = { porous.SUITE_CHACHA_POLY }, application_id = 5 })
  assert(both.server:set_security({ identity = secret, token_keys = { [9] = token_key }, require_proof = 1 }))
  assert(porous.C.porous_core_unix_time(both.server.handle, 1000) == 0)
  local claims = ffi.new("porous_claims", { size = ffi.sizeof("porous_claims"), key_number = 9, application_id = 5 })
  claims.client_id, claims.created, claims.expires = 1234, 990, 1060
  local ticket, text = ffi.new("porous_ticket *[1]"), ffi.new("char[1500]")
  assert(porous.C.porous_ticket_mint(token_key, claims, ticket) == 0)
  assert(porous.C.porous_ticket_set_server_key(ticket[0], public, 32) == 0)
  assert(porous.C.porous_ticket_to_text(ticket[0], text, 1500) > 0)
  porous.C.porous_ticket_free(ticket[0])
  assert(both.client:connect_sealed("own:s", { ticket = ffi.string(text) }))
  both.event(both.client, "connected")
end

function tests.hosts_on_sockets_say_hello()
  local run = io.popen("luajit echo.lua 2>&1")
  local said = run:read("*a")
  run:close()
  assert(said == "hello\n", said)
end

function tests.a_socket_is_closed()
  local host = assert(porous.bind("127.0.0.1:0"))
  assert(host:address():match("^127%.0%.0%.1:%d+$"))
  assert(host:transmit() and host:wait(0) and host:close())
  fails(porous.ERR_NOT_AVAILABLE, porous.bind("192.0.2.1:0"))
  assert(host:free())
end

function tests.a_suffix_is_set_before_connecting()
  local host, proxy = assert(porous.bind("127.0.0.1:0", { preset = porous.PRESET_CLIENT })), "127.0.0.1:9"
  fails(porous.ERR_TOO_LONG, host:set_suffix(proxy, ("x"):rep(33)))
  fails(porous.ERR_ADDRESS, host:set_suffix("nowhere", "token"))
  assert(host:set_suffix(proxy, "token") and host:connect(proxy))
  fails(porous.ERR_ALREADY_CONNECTED, host:set_suffix(proxy, ""))
  assert(host:free())
end

function tests.ids_tell_the_server_to_a_balancer()
  local host = assert(porous.core(("x"):rep(32), { connection_id_len = 12 }))
  local ids = ffi.new("porous_connection_ids", { size = ffi.sizeof("porous_connection_ids") })
  ids.kind, ids.server_id_len = porous.IDS_QUIC_LB, 3
  ffi.copy(ids.server_id, "srv", 3)
  assert(porous.C.porous_set_connection_ids(host.handle, ids) == porous.OK)
  ids.server_id_len = 8
  assert(porous.C.porous_set_connection_ids(host.handle, ids) == porous.ERR_IDS_TOO_SHORT)
end

local failed = 0
for name, test in pairs(tests) do
  local fine, why = xpcall(test, debug.traceback)
  if not fine then
    failed = failed + 1
    print(name:gsub("_", " ") .. ": " .. why)
  end
end
print(failed == 0 and "ok" or failed .. " failed")
os.exit(failed == 0)
