// A test runner of its own, so that nothing but a compiler is needed. A test is a public static method without
// parameters of a class whose name ends with "Tests". Arguments choose tests by a part of their names.

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading;

namespace Porous.Tests
{
    public sealed class Failure : Exception
    {
        public Failure(string text) : base(text) { }
    }

    public static class Check
    {
        /// <summary>Generous: a test that waits so long fails.</summary>
        static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

        public static void That(bool holds, string text)
        {
            if (!holds) throw new Failure(text);
        }

        public static void Equal<T>(T expected, T found, string what)
        {
            if (!Equals(expected, found)) throw new Failure(what + ": " + expected + " expected, " + found + " found");
        }

        public static void Bytes(byte[] expected, byte[] found, string what)
        {
            That(expected.SequenceEqual(found), what + ": " + BitConverter.ToString(expected.Take(16).ToArray()) +
                " expected, " + BitConverter.ToString(found.Take(16).ToArray()) + " found, " + found.Length + " bytes");
        }

        /// <summary>Runs the action, which must throw an exception of this type, and returns it.</summary>
        public static T Throws<T>(Action action, string what) where T : Exception
        {
            try
            {
                action();
            }
            catch (T e)
            {
                return e;
            }
            throw new Failure(what + ": no " + typeof(T).Name);
        }

        /// <summary>Runs the action, which must throw a PorousException with this status.</summary>
        public static void Throws(Status status, Action action)
        {
            var e = Throws<PorousException>(action, status.ToString());
            Equal(status, e.Status, "status");
            That(e.Message.Length > 10, "a text: " + e.Message);
        }

        /// <summary>Takes turns until the condition holds.</summary>
        public static void Until(Func<bool> done, Action turn, string what)
        {
            var clock = Stopwatch.StartNew();
            while (!done())
            {
                That(clock.Elapsed < Patience, "not within " + Patience.TotalSeconds + " s: " + what);
                turn();
                Thread.Sleep(1);
            }
        }
    }

    public static class Runner
    {
        /// <summary>The root of the project, in which the tests read the header of the library.</summary>
        public static string Root { get { return Environment.GetEnvironmentVariable("POROUS_ROOT") ?? "."; } }

        public static string Read(string path) { return File.ReadAllText(Path.Combine(Root, path)); }

        public static int Main(string[] wanted)
        {
            var tests = Assembly.GetExecutingAssembly().GetTypes()
                .Where(type => type.Name.EndsWith("Tests"))
                .OrderBy(type => type.Name, StringComparer.Ordinal)
                .SelectMany(type => type.GetMethods(BindingFlags.Public | BindingFlags.Static))
                .Where(test => test.GetParameters().Length == 0 && test.ReturnType == typeof(void))
                .Where(test => wanted.Length == 0 || wanted.Any(part => Name(test).Contains(part)))
                .ToList();
            int failed = 0;
            foreach (MethodInfo test in tests)
            {
                string error = Run(test);
                if (error == null) continue;
                failed++;
                Console.WriteLine("FAILED " + Name(test) + ": " + error);
            }
            Console.WriteLine((tests.Count - failed) + " tests passed, " + failed + " failed");
            return failed == 0 && tests.Count > 0 ? 0 : 1;
        }

        static string Name(MethodInfo test) { return test.DeclaringType.Name + "." + test.Name; }

        static string Run(MethodInfo test)
        {
            try
            {
                test.Invoke(null, null);
                return null;
            }
            catch (TargetInvocationException e)
            {
                var failure = e.InnerException as Failure;
                return failure != null ? failure.Message : e.InnerException.ToString();
            }
        }
    }
}
