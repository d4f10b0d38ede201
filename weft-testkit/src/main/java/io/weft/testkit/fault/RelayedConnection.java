// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.testkit.fault.ConnectionFault.Moment;
import io.weft.testkit.fault.Faults.Planned;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;

/// A connection from this process's rank to another, in two halves: from the local transport to the
/// relay, and from the relay to the peer. Confined to the relay's thread.
final class RelayedConnection {

  private static final long FOR_EVER = Long.MAX_VALUE;

  private final Faults faults;
  private final SocketChannel inner;
  private final SocketChannel outer;
  private final SelectionKey innerKey;
  private final SelectionKey outerKey;
  private final RelayPipe there;
  private final RelayPipe back;
  private List<Planned> plannedThere = List.of();
  private List<Planned> plannedBack = List.of();
  private int version = -1;
  private long connectedNanos;
  private boolean connected;
  private boolean ended;

  /// Takes over `inner`, and begins to connect to the peer.
  RelayedConnection(
      Faults faults,
      SocketChannel inner,
      Selector selector,
      InetSocketAddress peer,
      List<Direction> ways)
      throws IOException {
    this.faults = faults;
    this.inner = inner;
    this.outer = SocketChannel.open();
    try {
      inner.configureBlocking(false);
      inner.setOption(StandardSocketOptions.TCP_NODELAY, true);
      outer.configureBlocking(false);
      outer.setOption(StandardSocketOptions.TCP_NODELAY, true);
      innerKey = inner.register(selector, 0, this);
      outerKey = outer.register(selector, SelectionKey.OP_CONNECT, this);
      var unused = outer.connect(peer);
    } catch (IOException refused) {
      outer.close();
      throw refused;
    }
    there = new RelayPipe(inner, outer, ways.getFirst());
    back = new RelayPipe(outer, inner, ways.getLast());
  }

  boolean isEnded() {
    return ended;
  }

  /// Returns whether no more bytes can reach the peer.
  boolean isDrained(long now) {
    return ended || there.isDrained(now);
  }

  /// Moves bytes, and applies the faults that are due.
  void pump(long now) {
    if (!ended && !connected) {
      connect(now);
    }
    if (ended || !connected) {
      return;
    }
    if (version != faults.version()) {
      version = faults.version();
      plannedThere = faults.planned(there.direction().sender(), there.direction().receiver());
      plannedBack = faults.planned(back.direction().sender(), back.direction().receiver());
    }
    move(there, plannedThere, now);
    move(back, plannedBack, now);
    if (!ended && there.isEnded() && back.isEnded()) {
      close();
    }
    if (!ended) {
      innerKey.interestOps(interest(there, back));
      outerKey.interestOps(interest(back, there));
    }
  }

  private static int interest(RelayPipe reading, RelayPipe writing) {
    return (reading.wantsRead() ? SelectionKey.OP_READ : 0)
        | (writing.wantsWrite() ? SelectionKey.OP_WRITE : 0);
  }

  private void connect(long now) {
    try {
      if (outer.finishConnect()) {
        connected = true;
        connectedNanos = now;
      }
    } catch (IOException refused) {
      close();
    }
  }

  private void move(RelayPipe pipe, List<Planned> planned, long now) {
    int got = 0;
    do {
      long mark = mark(pipe, planned, now);
      if (!ended && version == faults.version()) {
        got = pipe.take(mark, now);
      }
      if (!ended) {
        finish(pipe.give(now));
      }
    } while (got > 0 && !ended && version == faults.version());
  }

  /// Applies the faults that are due. Returns the position up to which bytes may then be read.
  private long mark(RelayPipe pipe, List<Planned> planned, long now) {
    long mark = FOR_EVER;
    for (Planned p : planned) {
      long left = bytesUntil(p.fault().moment(), pipe, now);
      if (left == 0 && version == faults.version()) {
        happen(p, pipe, now);
      } else if (left < FOR_EVER) {
        mark = Math.min(mark, pipe.position() + left);
      }
    }
    return mark;
  }

  /// Returns the bytes that may pass before the moment; 0 = it is due, `FOR_EVER` = it is a time.
  private long bytesUntil(Moment moment, RelayPipe pipe, long now) {
    return switch (moment) {
      case Moment.After(Duration since) ->
          now - connectedNanos >= ClampedDuration.nanos(since) ? 0 : FOR_EVER;
      case Moment.Behind(long bytes) -> Math.max(0, bytes - pipe.position());
    };
  }

  private void happen(Planned planned, RelayPipe pipe, long now) {
    ConnectionFault fault = planned.fault();
    Direction direction = pipe.direction();
    long millis = (now - connectedNanos) / 1_000_000;
    faults.happened(
        planned,
        direction.sender(),
        direction.receiver(),
        "after " + millis + " ms and " + pipe.position() + " bytes");
    switch (fault.kind()) {
      case CUT -> {
        if (fault.moment() instanceof Moment.After) {
          reset();
        } else {
          pipe.closeBehind();
        }
      }
      case HALF_CLOSE -> pipe.halfClose();
      case STALL ->
          direction.stall(
              now, fault.amount().isZero() ? FOR_EVER : ClampedDuration.nanos(fault.amount()));
      case DELAY -> direction.delay(ClampedDuration.nanos(fault.amount()));
      case CORRUPT -> pipe.corruptNext();
    }
  }

  private void finish(RelayPipe.PipeState outcome) {
    switch (outcome) {
      case GOES_ON -> {}
      case CLOSE -> close();
      case RESET -> reset();
    }
  }

  /// Returns the time until an action is due without an event of a socket.
  long quietNanos(long now) {
    if (ended || !connected) {
      return FOR_EVER;
    }
    long quiet = Math.min(there.quietNanos(now), back.quietNanos(now));
    for (List<Planned> planned : List.of(plannedThere, plannedBack)) {
      for (Planned p : planned) {
        if (p.fault().moment() instanceof Moment.After(Duration since)) {
          quiet = Math.min(quiet, ClampedDuration.nanos(since) - (now - connectedNanos));
        }
      }
    }
    return version == faults.version() ? quiet : 0;
  }

  /// Resets both ends, which lose their unread bytes.
  private void reset() {
    for (SocketChannel channel : List.of(inner, outer)) {
      try {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      } catch (IOException gone) {
        // The channel is then closed without the option.
        assert !gone.toString().isEmpty();
      }
    }
    close();
  }

  void close() {
    ended = true;
    for (SocketChannel channel : List.of(inner, outer)) {
      try {
        channel.close();
      } catch (IOException gone) {
        // The channel is already closed.
        assert !channel.isOpen();
      }
    }
  }
}
