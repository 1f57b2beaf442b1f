// Compares Porous.cs with porous.h and the library: its layouts, numbers and functions.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace Porous.Tests
{
    public static class HeaderTests
    {
        static string Header { get { return Runner.Read("porous-ffi/include/porous.h"); } }

        static Type Inner(string name)
        {
            return typeof(Host).Assembly.GetType("Porous.Native").GetNestedType(name, BindingFlags.NonPublic);
        }

        static string Plain(string name) { return name.Replace("_", "").ToLowerInvariant(); }

        /// <summary>Functions that C# has no use for: structs are set up without help, and memory is for programs of C.
        /// </summary>
        static readonly string[] Unused = { "porous_send_options_init", "porous_set_allocator", "porous_memory" };

        public static void every_function_of_the_header_is_imported()
        {
            var header = Regex.Matches(Header, @"^(?:POROUS_API )?(?:const )?\w+ \*?(porous_\w+)\(", RegexOptions.Multiline)
                .Cast<Match>().Select(m => m.Groups[1].Value).Except(Unused).OrderBy(n => n, StringComparer.Ordinal);
            Check.That(header.Count() > 50, "where are the functions? " + header.Count());
            var imported = typeof(Host).Assembly.GetType("Porous.Native")
                .GetMethods(BindingFlags.Static | BindingFlags.NonPublic)
                .Where(m => m.Name.StartsWith("porous_")).Select(m => m.Name);
            Check.Equal("", string.Join(" ", header.Except(imported).ToArray()), "functions that are not imported");
            Check.Equal("", string.Join(" ", imported.Except(header).ToArray()), "functions that the header lacks");
        }

        public static void the_size_of_each_struct_is_that_of_the_library()
        {
            var types = new Dictionary<string, Type>
            {
                { "config", typeof(Config) }, { "channel", typeof(Channel) }, { "address", typeof(Address) },
                { "event", typeof(Event) }, { "send_options", typeof(SendOptions) },
                { "received", typeof(Received) }, { "transmit", typeof(Transmit) },
                { "peer_stats", typeof(PeerStats) }, { "channel_stats", typeof(ChannelStats) },
                { "progress", typeof(Progress) }, { "security", Inner("Security") },
                { "credentials", Inner("Credentials") }, { "claims", Inner("Claims") }, { "output", typeof(Output) },
            };
            int found = 0;
            string folder = Path.Combine(Runner.Root, "porous-ffi/src");
            foreach (string file in Directory.GetFiles(folder, "*.rs", SearchOption.AllDirectories))
            {
                foreach (Match m in Regex.Matches(File.ReadAllText(file), @"size_of::<porous_(\w+)>\(\) == (\d+)"))
                {
                    Type type;
                    if (!types.TryGetValue(m.Groups[1].Value, out type)) continue;
                    Check.Equal(int.Parse(m.Groups[2].Value), Marshal.SizeOf(type), type.Name);
                    found++;
                }
            }
            Check.Equal(types.Count, found, "structs whose sizes the library states");
        }

        /// <summary>Fields stand in the same order, under the same names: 1, 2 or 3 of one size would fit the
        /// size of the struct in any order.</summary>
        public static void the_fields_of_each_struct_are_those_of_the_header()
        {
            foreach (var type in new[] { typeof(Config), typeof(Channel), typeof(Address), typeof(Event),
                typeof(SendOptions), typeof(Received), typeof(Transmit), typeof(PeerStats), typeof(ChannelStats),
                typeof(Progress), Inner("Security"), Inner("Credentials"), Inner("Claims"),
                typeof(Output) })
            {
                string name = Regex.Replace(type.Name, "(?<!^)([A-Z])", "_$1").ToLowerInvariant();
                string body = Regex.Match(Header, @"typedef struct porous_" + name + @" \{(.*?)\n\}",
                    RegexOptions.Singleline).Groups[1].Value;
                body = Regex.Replace(body, @"/\*.*?\*/", "", RegexOptions.Singleline);
                var header = Regex.Matches(body, @"(\w+)(?:\[\d+\])?;").Cast<Match>()
                    .Select(m => Plain(m.Groups[1].Value)).Where(f => f != "reserved").Select(Short);
                var here = type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)
                    .Select(f => Plain(f.Name)).Where(f => !f.StartsWith("reserved"))
                    .Select(f => Regex.Replace(f, @"(?<=bytes|data|suite|audiences)\d$", "")).Select(Short);
                Check.Equal(string.Join(" ", header.ToArray()), string.Join(" ", Once(here).ToArray()), type.Name);
            }
        }

        static string Short(string field)
        {
            return field == "len" ? "length" : field == "datalen" ? "datalength" : field == "suites" ? "suite" : field;
        }

        static IEnumerable<string> Once(IEnumerable<string> fields)
        {
            string before = null;
            foreach (string field in fields)
            {
                if (field != before) yield return field;
                before = field;
            }
        }

        public static void every_number_of_the_header_is_here()
        {
            var enums = new Dictionary<string, Type>
            {
                { "ERR", typeof(Status) }, { "ADDRESS", typeof(AddressKind) }, { "PRESET", typeof(Preset) },
                { "POLICY", typeof(Policy) }, { "CONGESTION", typeof(Congestion) },
                { "INTEGRITY", typeof(Integrity) }, { "SUITE", typeof(Suite) }, { "ECN", typeof(Ecn) },
                { "LISTEN", typeof(Listen) }, { "EVENT", typeof(EventType) }, { "OUTCOME", typeof(Outcome) },
                { "REASON", typeof(Reason) }, { "STATE", typeof(State) },
                { "OUTPUT", typeof(OutputType) }, { "IDS", typeof(Ids) },
            };
            int found = 0;
            foreach (Match m in Regex.Matches(Header, @"#define POROUS_([A-Z]+)_(\w+) \(?(-?\d+)\)?\n"))
            {
                Type type;
                if (!enums.TryGetValue(m.Groups[1].Value, out type)) continue;
                string name = Enum.GetNames(type).FirstOrDefault(n => Plain(n) == Plain(m.Groups[2].Value));
                Check.That(name != null, type.Name + " lacks " + m.Value);
                long value = Convert.ToInt64(Enum.Parse(type, name));
                Check.Equal(long.Parse(m.Groups[3].Value), value, m.Groups[0].Value.Trim());
                found++;
            }
            Check.That(found > 90, "where are the numbers? " + found);
        }

        public static void the_numbers_without_an_enum_of_their_own_are_here()
        {
            foreach (var pair in new Dictionary<string, int>
            {
                { "ABI", 1 }, { "ON", (int)Switch.On }, { "OFF", (int)Switch.Off }, { "OK", (int)Status.Ok },
                { "NO_CONNECTION_IDS", Config.NoConnectionIds }, { "PATH_MTU_OFF", Config.PathMtuOff },
                { "NO_COPIES", SendOptions.NoCopies }, { "UNRELIABLE", (int)Mode.Unreliable },
                { "RELIABLE", (int)Mode.Reliable }, { "PASSIVE", (int)Mode.Passive },
            })
            {
                Check.That(Header.Contains("#define POROUS_" + pair.Key + " " + pair.Value + "\n"), pair.Key);
            }
        }

        public static void the_version_is_that_of_the_header()
        {
            string text = "#define POROUS_VERSION_MAJOR " + Library.Version.Major +
                "\n#define POROUS_VERSION_MINOR " + Library.Version.Minor +
                "\n#define POROUS_VERSION_PATCH " + Library.Version.Build + "\n";
            Check.That(Header.Contains(text), text);
        }
    }
}
