// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.weft.agent.Ticker;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.UnprovenLimit;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// An HTTP server on a separate thread, which answers one request per connection. At most 64
/// connections are open, each of at most 5 s and 8 KiB. At the limit, a new connection replaces one
/// of the source with the most connections. Owned.
final class MetricsServer implements AutoCloseable {

  static final int MOST_CONNECTIONS = 64;
  static final Duration LIMIT = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(MetricsServer.class);
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Function<MetricsRequest, MetricsResponse> pages;
  private final ServerSocketChannel listener;
  private final Selector selector;
  private final Duration limit;
  private final UnprovenLimit<SocketChannel> guests = new UnprovenLimit<>(MOST_CONNECTIONS);
  private final Thread thread;
  private long acceptNanos = Ticker.SYSTEM.nanos();
  private volatile boolean closed;

  private MetricsServer(
      ServerSocketChannel listener,
      Selector selector,
      Duration limit,
      Function<MetricsRequest, MetricsResponse> pages) {
    this.limit = limit;
    this.listener = listener;
    this.selector = selector;
    this.pages = pages;
    this.thread = Thread.ofPlatform().daemon().name("weft-metrics").unstarted(this::run);
  }

  /// Listens at this address. Throws `IOException` if that is impossible.
  ///
  /// @param limit time limit of each connection
  /// @param pages answers a request; must not throw
  static MetricsServer listen(
      MetricsAddress address, Duration limit, Function<MetricsRequest, MetricsResponse> pages)
      throws IOException {
    var socket = new InetSocketAddress(address.host(), address.port());
    if (socket.isUnresolved()) {
      throw new UnknownHostException(address.host() + " is not known");
    }
    ServerSocketChannel listener = ServerSocketChannel.open();
    try {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.bind(socket, MOST_CONNECTIONS);
      listener.configureBlocking(false);
      Selector selector = Selector.open();
      listener.register(selector, SelectionKey.OP_ACCEPT);
      var server = new MetricsServer(listener, selector, limit, pages);
      server.thread.start();
      return server;
    } catch (IOException | RuntimeException refused) {
      listener.close();
      throw refused;
    }
  }

  private void run() {
    try {
      while (!closed) {
        selector.select(ClampedDuration.millis(PAUSE));
        long now = Ticker.SYSTEM.nanos();
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
          SelectionKey key = keys.next();
          keys.remove();
          turn(key, now);
        }
        endLate(now);
      }
    } catch (IOException | RuntimeException defect) {
      LOG.error("metrics are no longer served", defect);
    } finally {
      end();
    }
  }

  private void turn(SelectionKey key, long now) {
    if (!key.isValid()) {
      return;
    }
    if (key.attachment() instanceof MetricsConnection connection) {
      SocketChannel channel = (SocketChannel) key.channel();
      try {
        if (connection.turn(channel, pages)) {
          drop(channel);
        } else {
          key.interestOps(connection.isAnswering() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
        if (connection.hasSpoken()) {
          guests.spoke(channel);
        }
      } catch (IOException gone) {
        drop(channel);
      }
    } else if (now - acceptNanos >= 0) {
      accept(now);
    }
  }

  private void accept(long now) {
    SocketChannel channel = null;
    try {
      channel = listener.accept();
      if (channel == null) {
        return;
      }
      channel.configureBlocking(false);
      guests
          .admit(channel, ((InetSocketAddress) channel.getRemoteAddress()).getAddress())
          .ifPresent(this::close);
      channel.register(
          selector,
          SelectionKey.OP_READ,
          new MetricsConnection(now + ClampedDuration.nanos(limit)));
    } catch (IOException limited) {
      // No descriptor is free; other connections may end during the pause.
      acceptNanos = now + ClampedDuration.nanos(PAUSE);
      if (channel != null) {
        drop(channel);
      }
    }
  }

  private void endLate(long now) {
    for (SelectionKey key : List.copyOf(selector.keys())) {
      if (key.attachment() instanceof MetricsConnection connection && connection.isLate(now)) {
        drop((SocketChannel) key.channel());
      }
    }
  }

  private void drop(SocketChannel channel) {
    guests.leave(channel);
    close(channel);
  }

  private void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException gone) {
      assert !channel.isOpen();
    }
  }

  private void end() {
    for (SelectionKey key : List.copyOf(selector.keys())) {
      if (key.channel() instanceof SocketChannel channel) {
        close(channel);
      }
    }
    try {
      listener.close();
      selector.close();
    } catch (IOException gone) {
      assert !listener.isOpen();
    }
  }

  /// Stops listening. Returns when the server has stopped, or after a second.
  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      var unused = thread.join(Duration.ofSeconds(1));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
