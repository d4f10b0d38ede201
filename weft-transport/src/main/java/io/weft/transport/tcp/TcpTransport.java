// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.UnprovenLimit;
import io.weft.transport.region.RegionHolder;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.RateLimitedLog;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.table.EndpointArrays;
import io.weft.transport.tls.TlsParty;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One listening socket and its endpoints. Up to four endpoints are read without a selector, which
/// saves a spinning poller a system call per duty cycle. With more endpoints the selector reports
/// the readable ones. A spinning poller looks for new connections at least every 500 microseconds,
/// and `await` detects them at once.
final class TcpTransport implements Transport, RegionHolder {

  static final String LOGGER = "io.weft.transport.tcp";

  /// 64 KiB plus room for the header of the layer above.
  static final int MAX_MESSAGE_BYTES = (1 << 16) + (1 << 10);

  /// Copying 64 KiB twice takes less than ten microseconds. The grant of a write takes 18
  /// microseconds on loopback, and tens of microseconds in a network.
  private static final int EAGER_BYTES = 1 << 16;

  private static final int DIRECT_ENDPOINTS = 4;
  private static final long LOOK_NANOS = 500_000;
  private static final long MILLI = 1_000_000;
  private static final long TIMER_MILLIS = 5;
  private static final int MAX_CLOSING = 64;

  static final Capabilities CAPABILITIES =
      new Capabilities(
          "tcp",
          false,
          MAX_MESSAGE_BYTES,
          EAGER_BYTES,
          Long.MAX_VALUE,
          TcpOutbound.MAX_IN_FLIGHT,
          0,
          false);

  private final FrameSink sink;
  private final long connectNanos;
  private final long handshakeNanos;
  private final long flushBytes;
  private final RegionTable table;
  private final JobProof proof;
  private final RateLimitedLog log;
  private final @Nullable TlsParty party;
  private final OpenFiles openFiles = OpenFiles.ofThisProcess();
  private final Readiness readiness = new Readiness(openFiles);
  private final TcpListener listener;
  private final Address address;
  private final MessageBuffer messages = new MessageBuffer(MAX_MESSAGE_BYTES);
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(1 << 16);
  private final AtomicLong bytesSent = new AtomicLong();
  private final List<TcpConnect> connects = new ArrayList<>();
  private final List<TcpGracefulClose> closing = new ArrayList<>();
  private TcpEndpoint[] endpoints = {};
  private String trouble = "";
  private long lookedNanos;
  private boolean worked;
  private boolean workedForStranger;
  private boolean workWaits;
  private boolean closed;

  TcpTransport(TransportConfig config, FrameSink sink) {
    this.sink = sink;
    connectNanos = ClampedDuration.nanos(config.connectDeadline());
    flushBytes = config.settings().required(TcpConfig.FLUSH_BYTES);
    handshakeNanos =
        ClampedDuration.nanos(UnprovenLimit.handshakeTimeout(config.connectDeadline()));
    try {
      InetSocketAddress bind = TcpAddress.toBind(config.bind());
      party = config.encryption().at(bind.getAddress()).map(TcpTransport::party).orElse(null);
      listener = new TcpListener(this, readiness, bind);
    } catch (RuntimeException e) {
      readiness.close();
      throw e;
    }
    address = new Address(TcpProvider.SCHEME, TcpAddress.format(listener.address()));
    table = new RegionTable(address.toString());
    proof = new JobProof(config.credentials(), table.incarnation());
    log = new RateLimitedLog(LOGGER, "rank " + config.credentials().node() + " at " + address);
  }

  private static TlsParty party(Encryption.Tls encryption) {
    try {
      return TlsParty.of(encryption);
    } catch (IllegalArgumentException e) {
      throw new TransportException.DeviceLost(
          e.getMessage() + "; check --tls-certificate, --tls-key and --tls-ca", e);
    }
  }

  @Override
  public Address address() {
    return address;
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public Endpoint connect(Address peer, int node) {
    if (closed) {
      throw new IllegalStateException("the transport at " + address + " is closed");
    }
    if (!peer.scheme().equals(TcpProvider.SCHEME)) {
      throw new IllegalArgumentException(peer + " is not an address of " + TcpProvider.SCHEME);
    }
    InetSocketAddress to = TcpAddress.toConnect(peer.location());
    TcpEndpoint endpoint = new TcpEndpoint(this, node, peer);
    connects.add(new TcpConnect(this, endpoint, to));
    return endpoint;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return table.allocate(bytes);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return table.register(segment, owner);
  }

  @Override
  public int poll(long nowNanos) {
    if (closed) {
      return 0;
    }
    log.tick(nowNanos);
    worked = false;
    workedForStranger = false;
    workWaits = false;
    boolean direct = endpoints.length <= DIRECT_ENDPOINTS;
    int work = flush(direct);
    if (direct) {
      // A callback may open or close endpoints, which replaces the array.
      for (TcpEndpoint endpoint : endpoints) {
        work += endpoint.receive();
      }
    }
    if (!direct || !isSettled() || isLookDue(nowNanos)) {
      lookedNanos = nowNanos;
      watchWritable(direct);
      readiness.look();
    }
    if (!readiness.isEmpty()) {
      work += readiness.serve(nowNanos);
    }
    if (!direct) {
      for (TcpEndpoint endpoint : endpoints) {
        work += endpoint.isReadable() ? endpoint.receive() : 0;
      }
    }
    if (!isSettled()) {
      keepTime(nowNanos);
    }
    return work;
  }

  /// Hot path.
  @Override
  public void flush() {
    if (!closed) {
      var unused = flush(false);
    }
  }

  private boolean isLookDue(long nowNanos) {
    long since = nowNanos - lookedNanos;
    // The check must also succeed after the clock has jumped back.
    return since >= LOOK_NANOS || since < 0;
  }

  private int flush(boolean retryBlocked) {
    int work = 0;
    for (TcpEndpoint endpoint : endpoints) {
      if (retryBlocked) {
        endpoint.unblock();
      }
      if (endpoint.wantsFlush()) {
        work += endpoint.flush();
      }
    }
    return work;
  }

  private void watchWritable(boolean direct) {
    if (!direct) {
      for (TcpEndpoint endpoint : endpoints) {
        endpoint.watchWritable();
      }
    }
  }

  /// Returns whether no connection is being established or closed.
  private boolean isSettled() {
    return connects.isEmpty() && closing.isEmpty() && listener.isIdle();
  }

  private void keepTime(long nowNanos) {
    listener.tick(nowNanos);
    for (int i = 0; i < connects.size(); i++) {
      connects.get(i).tick(nowNanos);
    }
    connects.removeIf(TcpConnect::isEnded);
    for (int i = 0; i < closing.size(); i++) {
      closing.get(i).tick(nowNanos);
    }
    closing.removeIf(TcpGracefulClose::isEnded);
  }

  @Override
  public void await(long maxNanos) {
    if (closed || maxNanos <= 0) {
      return;
    }
    if (workWaits) {
      return;
    }
    for (TcpEndpoint endpoint : endpoints) {
      if (endpoint.wantsFlush() || endpoint.isReadable()) {
        return;
      }
      endpoint.watchWritable();
    }
    // The selector counts in milliseconds. Timers of connections that begin or end need short
    // waits.
    long millis = Math.max(1, maxNanos / MILLI);
    readiness.await(isSettled() ? millis : Math.min(millis, TIMER_MILLIS));
  }

  @Override
  public void wake() {
    readiness.wake();
  }

  @Override
  public String trouble() {
    return trouble;
  }

  @Override
  public long bytesSent() {
    return bytesSent.getOpaque();
  }

  /// Returns the stream of an outgoing socket, encrypted if so configured.
  SocketStream call(SocketChannel socket) {
    return party == null ? new PlainStream(socket) : new TlsStream(socket, party.call());
  }

  /// Returns the stream of an accepted socket, encrypted if so configured.
  SocketStream answer(SocketChannel socket) {
    return party == null ? new PlainStream(socket) : new TlsStream(socket, party.answer());
  }

  /// Returns whether the caller may compute one step of a handshake. Each poll allows one step for
  /// outgoing and one for incoming connections. Strangers therefore delay the endpoints by only a
  /// few milliseconds, and do not delay outgoing connections.
  boolean mayWork() {
    boolean may = !worked;
    worked = true;
    workWaits |= !may;
    return may;
  }

  boolean mayWorkForStranger() {
    boolean may = !workedForStranger;
    workedForStranger = true;
    workWaits |= !may;
    return may;
  }

  /// Adds an endpoint after both sides have proved the secret.
  void established(
      TcpEndpoint endpoint, SocketStream stream, SelectionKey key, long peerIncarnation) {
    stream.open();
    endpoint.open(stream, key, peerIncarnation);
    key.attach(endpoint);
    endpoints = EndpointArrays.with(endpoints, endpoint);
    sink.onConnect(endpoint);
  }

  void forget(TcpEndpoint endpoint) {
    endpoints = EndpointArrays.without(endpoints, endpoint);
  }

  /// Closes a connection in a way that lets its last frame arrive.
  void abandon(SocketStream stream, SelectionKey key) {
    TcpGracefulClose close = new TcpGracefulClose(stream, key, scratch);
    if (!close.isEnded()) {
      if (closing.size() == MAX_CLOSING) {
        closing.remove(0).close();
      }
      closing.add(close);
    }
  }

  void countSent(long bytes) {
    bytesSent.setOpaque(bytesSent.getPlain() + bytes);
  }

  FrameSink sink() {
    return sink;
  }

  @Override
  public RegionTable table() {
    return table;
  }

  JobProof proof() {
    return proof;
  }

  Readiness readiness() {
    return readiness;
  }

  MessageBuffer messages() {
    return messages;
  }

  /// Records the reason that `trouble` returns.
  void hindered(String how) {
    trouble = how;
  }

  OpenFiles openFiles() {
    return openFiles;
  }

  RateLimitedLog log() {
    return log;
  }

  long connectNanos() {
    return connectNanos;
  }

  /// Returns the time in which a connection must prove itself.
  long handshakeNanos() {
    return handshakeNanos;
  }

  /// Returns the length of staged messages that is sent before more are staged.
  long flushBytes() {
    return flushBytes;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (TcpConnect connect : List.copyOf(connects)) {
      connect.abandon();
      connect.endpoint().close();
    }
    for (TcpEndpoint endpoint : endpoints) {
      endpoint.close();
    }
    closed = true;
    closing.forEach(TcpGracefulClose::close);
    listener.close();
    readiness.close();
  }
}
