-- A server and a client in one program: the client says hello, and the server says it back.
--
-- usage: POROUS_LIB=../../target/release/libporous.so luajit echo.lua

local porous = require("porous")

local server = assert(porous.bind("127.0.0.1:0"))
assert(server:listen())
local client = assert(porous.bind("127.0.0.1:0", { preset = porous.PRESET_CLIENT }))
assert(client:connect(server:address()))

local function serve()
  assert(server:step())
  for event in server:events() do
    for packet, channel, mode in server:packets(event.peer) do
      assert(server:send(event.peer, packet, channel, mode))
    end
  end
end

for _ = 1, 10000 do
  serve()
  assert(client:wait(1000))
  for event in client:events() do
    if event.type == "connected" then assert(client:send(event.peer, "hello")) end
    for packet in client:packets(event.peer) do
      print(packet)
      return
    end
  end
end
error("nothing was said back")
