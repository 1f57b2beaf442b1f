-- Makes porous_cdef.lua of porous.h: its declarations without the preprocessor, and its constants.
--
-- usage: luajit generate.lua HEADER > porous_cdef.lua

local file = assert(io.open(arg[1]))
local header = file:read("*a"):gsub("/%*.-%*/", "")
file:close()

local constants, declarations = {}, {}
for line in header:gmatch("[^\n]+") do
  local name, number = line:match("^#define POROUS_([%w_]+) %(?(-?%d+)%)?$")
  if name then
    constants[#constants + 1] = ("    %s = %s,"):format(name, number)
  elseif line:find("^%s*extern \"C\"") or line:find("^}  // extern") then
    -- The braces of C++ are between directives.
  elseif not line:find("^%s*#") and line:find("%S") then
    declarations[#declarations + 1] = (line:gsub("POROUS_API%s*", ""):gsub("%s+$", ""))
  end
end

print("-- Made of porous.h by generate.lua; not to be changed by hand.")
print("return {")
print("  constants = {\n" .. table.concat(constants, "\n") .. "\n  },")
print("  declarations = [[")
for _, line in ipairs(declarations) do
  if line ~= "" then print(line) end
end
print("]],\n}")
