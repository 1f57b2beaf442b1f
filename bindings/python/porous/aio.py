"""Hosts in an event loop of asyncio."""

import asyncio
from collections import deque
from typing import AsyncIterator, Deque, Optional

from ._host import Host
from ._values import Event


class AsyncHost(Host):
    """A host whose events come by `async for event in host`. It steps by itself: when datagrams come, when something
    is due, and after each command. It is made within a running loop.

    If the socket is of no more use, the loop over the events raises the error. The loop ends when the host is
    closed."""

    def _begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: Deque[Event] = deque()
        self._news = asyncio.Event()
        self._error: Optional[Exception] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._is_writer = False
        self._socket = self.fileno()
        self._loop.add_reader(self._socket, self._turn)
        self._soon: Optional[asyncio.Handle] = self._loop.call_soon(self._turn)

    async def __aenter__(self) -> "AsyncHost":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if not self.closed:
            self._detach()
        super().close()
        self._news.set()

    def _detach(self) -> None:
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        for handle in (self._timer, self._soon):
            if handle is not None:
                handle.cancel()

    def _changed(self) -> None:
        if self._soon is None:
            self._soon = self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        try:
            self.step()
            self._events.extend(self.events())
            self._rearm()
        except Exception as error:
            # A loop would only log it.
            self._error = error
            self._detach()
        self._news.set()

    def _rearm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        deadline = self.deadline()
        self._timer = None if deadline is None else self._loop.call_later(deadline, self._turn)
        is_blocked = self.is_blocked()
        if is_blocked and not self._is_writer:
            self._loop.add_writer(self._socket, self._turn)
        elif self._is_writer and not is_blocked:
            self._loop.remove_writer(self._socket)
        self._is_writer = is_blocked

    async def next_event(self) -> Optional[Event]:
        """Waits for the next event; None if the host was closed."""
        while not self._events:
            if self._error is not None:
                raise self._error
            if self.closed:
                return None
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            event = await self.next_event()
            if event is None:
                return
            yield event

    async def finished(self, code: int = 0, flush: float = 0) -> None:
        """Ends all connections, waits until all peers know, and closes. Events that come meanwhile are dropped."""
        self.disconnect_all(code, flush)
        while not self.is_empty() and self._error is None:
            self._news.clear()
            await self._news.wait()
        self._events.clear()
        self.close()
