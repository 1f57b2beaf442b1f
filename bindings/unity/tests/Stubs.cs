// What the transports see of Unity, Mirror and Netcode for GameObjects: the names and signatures, and nothing behind
// them but what the tests need.

using System;

#if UNITY_5_3_OR_NEWER
namespace AOT
{
    public sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
}
#endif

namespace UnityEngine
{
    public class MonoBehaviour
    {
        public bool enabled = true;
    }

    public static class Time
    {
        public static float realtimeSinceStartup;
    }

    public static class Debug
    {
        public static string LastError;
        public static void LogError(object message) { LastError = message.ToString(); }
    }

    /// <summary>The window system's, of which the name must not get in the way of porous's.</summary>
    public sealed class Event { }

    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text) { }
    }

    public sealed class DisallowMultipleComponent : Attribute { }

    public sealed class AddComponentMenu : Attribute
    {
        public AddComponentMenu(string name) { }
    }
}

namespace Mirror
{
    public static class Channels
    {
        public const int Reliable = 0;
        public const int Unreliable = 1;
    }

    public enum TransportError : byte
    {
        DnsResolve, Refused, Timeout, Congestion, InvalidReceive, InvalidSend, ConnectionClosed, Unexpected,
    }

    public interface PortTransport
    {
        ushort Port { get; set; }
    }

    public abstract class Transport : UnityEngine.MonoBehaviour
    {
        public Action OnClientConnected;
        public Action<ArraySegment<byte>, int> OnClientDataReceived, OnClientDataSent;
        public Action<TransportError, string> OnClientError;
        public Action OnClientDisconnected;
        public Action<int, string> OnServerConnectedWithAddress;
        public Action<int, ArraySegment<byte>, int> OnServerDataReceived, OnServerDataSent;
        public Action<int, TransportError, string> OnServerError;
        public Action<int> OnServerDisconnected;

        public abstract bool Available();
        public virtual bool IsEncrypted { get { return false; } }
        public virtual string EncryptionCipher { get { return ""; } }
        public abstract bool ClientConnected();
        public abstract void ClientConnect(string address);
        public virtual void ClientConnect(Uri uri) { throw new NotSupportedException(); }
        public abstract void ClientSend(ArraySegment<byte> segment, int channelId = Channels.Reliable);
        public abstract void ClientDisconnect();
        public abstract Uri ServerUri();
        public abstract bool ServerActive();
        public abstract void ServerStart();
        public abstract void ServerSend(int connectionId, ArraySegment<byte> segment, int channelId = Channels.Reliable);
        public abstract void ServerDisconnect(int connectionId);
        public abstract string ServerGetClientAddress(int connectionId);
        public abstract void ServerStop();
        public abstract int GetMaxPacketSize(int channelId = Channels.Reliable);
        public virtual int GetBatchThreshold(int channelId = Channels.Reliable) { return 0; }
        public virtual void ClientEarlyUpdate() { }
        public virtual void ServerEarlyUpdate() { }
        public virtual void ClientLateUpdate() { }
        public virtual void ServerLateUpdate() { }
        public abstract void Shutdown();
        public virtual void OnApplicationQuit() { Shutdown(); }
    }
}

namespace Unity.Netcode
{
    public enum NetworkDelivery
    {
        Unreliable, UnreliableSequenced, Reliable, ReliableSequenced, ReliableFragmentedSequenced,
    }

    public enum NetworkEvent
    {
        Data, Connect, Disconnect, TransportFailure, Nothing,
    }

    public sealed class NetworkManager { }

    public abstract class NetworkTransport : UnityEngine.MonoBehaviour
    {
        public abstract ulong ServerClientId { get; }
        public virtual bool IsSupported { get { return true; } }
        public abstract void Send(ulong clientId, ArraySegment<byte> payload, NetworkDelivery networkDelivery);
        public abstract NetworkEvent PollEvent(
            out ulong clientId, out ArraySegment<byte> payload, out float receiveTime);
        public abstract bool StartClient();
        public abstract bool StartServer();
        public abstract void DisconnectRemoteClient(ulong clientId);
        public abstract void DisconnectLocalClient();
        public abstract ulong GetCurrentRtt(ulong clientId);
        public abstract void Shutdown();
        public abstract void Initialize(NetworkManager networkManager = null);
        protected virtual void OnEarlyUpdate() { }
        protected virtual void OnPostLateUpdate() { }

        /// <summary>As the network manager does it at the end of a frame.</summary>
        public void PostLateUpdate() { OnPostLateUpdate(); }
    }
}
