// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.Address;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The relay of the connections that one rank makes. One thread moves the bytes and keeps time. For
/// each peer the relay listens on a separate port, at the address of the rank's transport.
final class Relay implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Relay.class);
  private static final int MAX_CONNECTIONS = 1024;
  private static final int BACKLOG = 16;
  private static final long LONGEST_MILLIS = 100;
  private static final Duration DRAIN = Duration.ofSeconds(1);

  private final int node;
  private final Faults faults;
  private final Selector selector;
  private final Runnable wake;
  private final Thread thread;
  private final List<RelayedConnection> connections = new ArrayList<>();
  private final List<ServerSocketChannel> doors = new ArrayList<>();
  private volatile boolean closing;

  /// A port on which the relay accepts connections to a peer.
  private record Door(ServerSocketChannel channel, InetSocketAddress peer, int node) {}

  Relay(int node, Faults faults) {
    this.node = node;
    this.faults = faults;
    try {
      selector = Selector.open();
    } catch (IOException refused) {
      throw new TransportException.DeviceLost(
          "no relay for rank " + node + ": " + refused, refused);
    }
    wake = selector::wakeup;
    faults.tell(wake);
    thread = Thread.ofPlatform().daemon().name("weft-fault-relay-" + node).start(this::run);
  }

  /// Opens a port for connections to this peer and returns its address. Any thread may call it.
  Address to(Address peer, int peerNode, Address own) {
    try {
      ServerSocketChannel channel = ServerSocketChannel.open();
      channel.bind(new InetSocketAddress(socket(own).getAddress(), 0), BACKLOG);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_ACCEPT, new Door(channel, socket(peer), peerNode));
      synchronized (doors) {
        doors.add(channel);
      }
      wake.run();
      int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
      String host = own.location().substring(0, own.location().lastIndexOf(':'));
      return new Address(peer.scheme(), host + ":" + port);
    } catch (IOException refused) {
      throw new TransportException.DeviceLost(
          "no relay from rank " + node + " to rank " + peerNode + ": " + refused, refused);
    }
  }

  private static InetSocketAddress socket(Address address) {
    int colon = address.location().lastIndexOf(':');
    String host = address.location().substring(0, colon).replaceAll("[\\[\\]]", "");
    return new InetSocketAddress(
        InetAddress.ofLiteral(host), Integer.parseInt(address.location().substring(colon + 1)));
  }

  private void run() {
    long end = Long.MAX_VALUE;
    try {
      while (true) {
        long now = System.nanoTime();
        if (closing) {
          end = end == Long.MAX_VALUE ? now + ClampedDuration.nanos(DRAIN) : end;
          if (now - end > 0 || isDrained(now)) {
            return;
          }
        }
        long quietNanos = Long.MAX_VALUE;
        for (RelayedConnection connection : List.copyOf(connections)) {
          connection.pump(now);
          quietNanos = Math.min(quietNanos, connection.quietNanos(now));
        }
        connections.removeIf(RelayedConnection::isEnded);
        long millis = Math.clamp(quietNanos / 1_000_000 + 1, 1, closing ? 1 : LONGEST_MILLIS);
        selector.select(millis);
        accept();
      }
    } catch (IOException | RuntimeException broken) {
      LOG.error("the relay of rank {} has died", node, broken);
    } finally {
      end();
    }
  }

  private boolean isDrained(long now) {
    return connections.stream().allMatch(connection -> connection.isDrained(now));
  }

  private void accept() throws IOException {
    for (SelectionKey key : List.copyOf(selector.selectedKeys())) {
      if (key.isValid() && key.isAcceptable() && key.attachment() instanceof Door door) {
        SocketChannel inner = door.channel().accept();
        if (inner != null) {
          welcome(inner, door);
        }
      }
    }
    selector.selectedKeys().clear();
  }

  private void welcome(SocketChannel inner, Door door) throws IOException {
    try {
      if (connections.size() == MAX_CONNECTIONS) {
        throw new IOException("more than " + MAX_CONNECTIONS + " connections");
      }
      connections.add(
          new RelayedConnection(
              faults,
              inner,
              selector,
              door.peer(),
              List.of(faults.direction(node, door.node()), faults.direction(door.node(), node))));
    } catch (IOException refused) {
      LOG.debug("a connection to {} was not relayed: {}", door.peer(), refused.toString());
      inner.close();
    }
  }

  private void end() {
    faults.tellNoMore(wake);
    connections.forEach(RelayedConnection::close);
    try {
      synchronized (doors) {
        for (ServerSocketChannel door : doors) {
          door.close();
        }
      }
      selector.close();
    } catch (IOException gone) {
      LOG.debug("closing the relay: {}", gone.toString());
    }
  }

  /// Drains the bytes to the peers for at most a second, then closes all connections.
  @Override
  public void close() {
    closing = true;
    wake.run();
    try {
      thread.join(DRAIN.plusSeconds(1));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
