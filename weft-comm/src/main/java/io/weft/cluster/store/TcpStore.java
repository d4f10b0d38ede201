// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.UnprovenLimit;
import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsPipe;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// The client of a `TcpStoreServer` on a rank. It has one connection, which it opens again on
/// demand. A request whose connection breaks is sent once more, except `putIfAbsent` and
/// `compareAndSet`, which fail because their effect is unknown. Thread-safe. Requests are sent
/// sequentially, in the order of the calls. A long wait is divided into requests of one second, so
/// that other requests are sent in between.
public final class TcpStore implements Store {

  private static final Duration RETRY = Duration.ofMillis(50);
  private static final Duration RETRY_OTHER = Duration.ofMillis(200);
  private static final int CONNECT_MILLIS = 5_000;

  /// The longest time for which a request tries to reconnect.
  private static final Duration RECONNECT = Duration.ofSeconds(2);

  private final ReentrantLock lock = new ReentrantLock(true);
  private final At at;
  private final String meeting;
  private final InetAddress localAddress;
  private @Nullable StoreConnection connection;
  private boolean closed;
  private volatile String caution = "";

  /// The address of a store, and the trust that it must prove.
  private record At(String host, int port, JobTrust trust) {

    String location() {
      return TcpStore.location(host, port);
    }
  }

  private TcpStore(StoreConnection connection, At at) {
    this.connection = connection;
    this.at = at;
    this.meeting = connection.meeting();
    this.localAddress = connection.socket().getLocalAddress();
  }

  /// Connects, and retries while no server listens at the address yet or while another job's ranks
  /// meet there. Throws `CommException.Setup` naming the address and the reasons after `limit`.
  /// Throws at once if the servers at all of the host's addresses cannot be this job's store.
  public static TcpStore connect(String host, int port, JobTrust trust, Duration limit)
      throws InterruptedException {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    Deadline deadline = Deadline.after(limit);
    var attempts = new Attempts();
    var parties = new HashMap<InetAddress, Optional<TlsParty>>();
    while (true) {
      Optional<StoreConnection> connection =
          connectToAny(host, port, trust, deadline, attempts, parties, openFiles);
      if (connection.isPresent()) {
        return new TcpStore(connection.get(), new At(host, port, trust));
      }
      if (deadline.passed()) {
        throw new CommException.Setup(
            "the job's store at "
                + location(host, port)
                + " was out of reach for "
                + deadline
                + " ("
                + attempts.reasons()
                + "); is the launcher or rank 0 running, and does WEFT_STORE name it?"
                + loopback(host),
            attempts.cause());
      }
      deadline.pause(attempts.cause() instanceof JobMismatch ? RETRY_OTHER : RETRY);
    }
  }

  /// Tries each address of the host once. Throws `CommException.Setup` if at each address a server
  /// answered that cannot be this job's store.
  private static Optional<StoreConnection> connectToAny(
      String host,
      int port,
      JobTrust trust,
      Deadline deadline,
      Attempts attempts,
      Map<InetAddress, Optional<TlsParty>> parties,
      OpenFiles openFiles) {
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(host);
    } catch (UnknownHostException unknown) {
      attempts.note(host, unknown, "", 0, 0);
      return Optional.empty();
    }
    var refusals = new ArrayList<CommException.Setup>();
    for (InetAddress address : addresses) {
      String where = location(address.getHostAddress(), port);
      int millis = deadline.remainingMillis(CONNECT_MILLIS);
      try {
        Optional<TlsParty> party = parties.computeIfAbsent(address, trust::party);
        var at = new InetSocketAddress(address, port);
        return Optional.of(open(at, location(host, port), trust, party, millis, deadline));
      } catch (SSLException refused) {
        refusals.add(refused(location(host, port), refused));
      } catch (CommException.Setup refused) {
        refusals.add(refused);
      } catch (IOException notYet) {
        attempts.note(where, notYet, openFiles.advice(notYet), millis, CONNECT_MILLIS);
      }
    }
    if (refusals.size() == addresses.length) {
      throw refusals.getFirst();
    }
    return Optional.empty();
  }

  /// Describes a further possible cause: a name that stands for an address that no other host can
  /// reach.
  private static String loopback(String host) {
    try {
      InetAddress[] all = InetAddress.getAllByName(host);
      if (Arrays.stream(all).allMatch(InetAddress::isLoopbackAddress)) {
        return " '"
            + host
            + "' is a loopback address here, which reaches only ranks of this host: if"
            + " rank 0 runs on another host, set WEFT_STORE to an address of that host, on all"
            + " ranks";
      }
    } catch (UnknownHostException unknown) {
      return " '" + host + "' cannot be resolved here";
    }
    return host.matches("[0-9.]+|.*:.*")
        ? ""
        : " If '"
            + host
            + "' is a loopback address on its own host (127.0.1.1 in /etc/hosts, as Debian has it),"
            + " give WEFT_STORE the host's address instead, on all ranks";
  }

  /// `HOST:PORT`, with brackets around a host that has colons.
  static String location(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }

  /// Connects with one attempt at each of the host's addresses, for callers that cannot wait. A
  /// host must accept the connection within `reach` and prove itself within `limit`. Throws
  /// `IOException` if no host does, and `CommException.Setup` if a server is not a store, has
  /// another secret or fails TLS.
  public static TcpStore connectOnce(
      String host, int port, JobTrust trust, Duration reach, Duration limit) throws IOException {
    int millis = Math.clamp(ClampedDuration.millis(reach), 1, Integer.MAX_VALUE);
    Deadline deadline = Deadline.after(limit);
    IOException failed = new UnknownHostException(host);
    for (InetAddress address : InetAddress.getAllByName(host)) {
      try {
        var at = new InetSocketAddress(address, port);
        StoreConnection connection =
            open(at, location(host, port), trust, trust.party(address), millis, deadline);
        return new TcpStore(connection, new At(host, port, trust));
      } catch (SSLException refused) {
        throw refused(location(host, port), refused);
      } catch (IOException unreachable) {
        failed = unreachable;
      }
    }
    throw failed;
  }

  /// This host's address towards the store, at which peers can reach this rank.
  public InetAddress localAddress() {
    return localAddress;
  }

  /// Sets the obstacle that may keep other ranks from reaching this store, for the message about
  /// ranks that do not arrive.
  void beware(String reason) {
    caution = reason;
  }

  @Override
  public String caution() {
    return caution;
  }

  @Override
  public String meeting() {
    return meeting;
  }

  @Override
  public void put(String key, byte[] value) {
    InMemoryStore.requireShort(key, value.length);
    if (!request(to -> to.put(key, value), Repeat.YES)) {
      throw full();
    }
  }

  @Override
  public boolean putIfAbsent(String key, byte[] value) {
    return exchange(key, null, value);
  }

  @Override
  public boolean compareAndSet(String key, byte[] expected, byte[] value) {
    InMemoryStore.requireShort(key, expected.length);
    return exchange(key, expected, value);
  }

  private boolean exchange(String key, byte @Nullable [] expected, byte[] value) {
    InMemoryStore.requireShort(key, value.length);
    int status = request(to -> to.compareAndSet(key, expected, value), Repeat.NO);
    if (status == StoreWire.FULL) {
      throw full();
    }
    return status == StoreWire.DONE;
  }

  @Override
  public void remove(String key) {
    InMemoryStore.requireShort(key, 0);
    boolean unused =
        request(
            to -> {
              to.remove(key);
              return true;
            },
            Repeat.YES);
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    InMemoryStore.requireShort(key, 0);
    return await(key, timeout, (to, millis) -> to.find(key, millis))
        .orElseThrow(() -> InMemoryStore.absent(key, "the store at " + at.location(), timeout));
  }

  @Override
  public Optional<byte[]> find(String key) {
    InMemoryStore.requireShort(key, 0);
    return request(to -> to.find(key, 0), Repeat.YES);
  }

  @Override
  public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException {
    InMemoryStore.requireShort(key, known.length);
    return await(key, timeout, (to, millis) -> to.findOther(key, known, millis));
  }

  private Optional<byte[]> await(String key, Duration timeout, Wait wait)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      int millis = deadline.passed() ? 0 : deadline.remainingMillis(StoreWire.MAX_WAIT_MILLIS);
      Optional<byte[]> value = request(to -> wait.ask(to, millis), Repeat.YES);
      if (value.isPresent() || millis == 0) {
        return value;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for '" + key + "'");
      }
    }
  }

  @Override
  public void disconnect() {
    lock.lock();
    try {
      drop();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      drop();
    } finally {
      lock.unlock();
    }
  }

  private void drop() {
    StoreConnection open = connection;
    connection = null;
    if (open != null) {
      open.close();
    }
  }

  // --- requests

  /// A request to the server at the other end of a connection.
  @FunctionalInterface
  private interface Exchange<T> {
    T with(StoreConnection to) throws IOException;
  }

  /// A request that the server answers after at most a given time.
  @FunctionalInterface
  private interface Wait {
    Optional<byte[]> ask(StoreConnection to, int millis) throws IOException;
  }

  /// The permission for a request to reach the server twice.
  private enum Repeat {
    YES,
    NO
  }

  private <T> T request(Exchange<T> exchange, Repeat repeat) {
    lock.lock();
    try {
      boolean fresh = connection == null;
      StoreConnection to = connected();
      try {
        return exchange.with(to);
      } catch (IOException broken) {
        drop();
        if (repeat == Repeat.NO) {
          throw unknown(broken);
        }
        if (fresh) {
          throw outOfReach(broken);
        }
        return exchange.with(connected());
      }
    } catch (IOException again) {
      drop();
      throw outOfReach(again);
    } finally {
      lock.unlock();
    }
  }

  /// Returns the connection, opening it if necessary. Throws `CommException.Setup` if the store is
  /// out of reach or has been replaced by another one.
  private StoreConnection connected() {
    StoreConnection present = connection;
    if (present != null) {
      return present;
    }
    if (closed) {
      throw new CommException.Setup(
          "the client of the store at " + at.location() + " is closed: this rank has left the job",
          null);
    }
    StoreConnection made;
    try {
      made = reconnect();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup(
          "interrupted while connecting to the store at " + at.location(), interrupted);
    }
    if (!made.meeting().equals(meeting)) {
      made.close();
      throw new CommException.Setup(
          "the store at "
              + at.location()
              + " is not this rank's: its server (the launcher or rank 0) has ended and was"
              + " started again, and its earlier contents are lost; start the job again",
          null);
    }
    connection = made;
    return made;
  }

  private StoreConnection reconnect() throws InterruptedException {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    Deadline deadline = Deadline.after(RECONNECT);
    var attempts = new Attempts();
    var parties = new HashMap<InetAddress, Optional<TlsParty>>();
    while (true) {
      Optional<StoreConnection> made =
          connectToAny(at.host(), at.port(), at.trust(), deadline, attempts, parties, openFiles);
      if (made.isPresent()) {
        return made.get();
      }
      if (deadline.passed()) {
        throw outOfReach(
            new IOException("for " + deadline + ": " + attempts.reasons(), attempts.cause()));
      }
      deadline.pause(RETRY);
    }
  }

  private static StoreConnection open(
      InetSocketAddress address,
      String location,
      JobTrust trust,
      Optional<TlsParty> party,
      int connectMillis,
      Deadline deadline)
      throws IOException {
    // As for the transports' sockets: the JVM's proxy settings are for hosts other than ranks'.
    var socket = new Socket(Proxy.NO_PROXY);
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, deadline.remainingMillis(connectMillis));
      long opening = ClampedDuration.millis(UnprovenLimit.handshakeTimeout(deadline.total()));
      socket.setSoTimeout(deadline.remainingMillis(Math.clamp(opening, 1, Integer.MAX_VALUE)));
      StoreLine line = StoreLine.call(socket, party);
      var connection = new StoreConnection(line, location);
      try {
        connection.prove(trust.secret(), trust.job(), line.binding());
      } catch (SSLException refused) {
        // The server checks this rank's certificate after this rank's part of the handshake.
        throw TlsPipe.explained(refused);
      }
      return connection;
    } catch (IOException | RuntimeException refused) {
      socket.close();
      throw refused;
    }
  }

  private static CommException.Setup refused(String location, SSLException refused) {
    return new CommException.Setup(
        "the job's store at " + location + " answered with " + refused.getMessage(), refused);
  }

  private CommException.Setup full() {
    return new CommException.Setup(
        "the store at " + at.location() + " is full (" + InMemoryStore.BOUNDS, null);
  }

  private CommException.Setup unknown(IOException cause) {
    return new CommException.Setup(
        "the connection to the store at "
            + at.location()
            + " broke before it answered a compare-and-set: "
            + cause
            + "; read the key to learn whether it took effect",
        cause);
  }

  private CommException.Setup outOfReach(IOException cause) {
    return new CommException.Setup(
        "the job's store at "
            + at.location()
            + " is out of reach: "
            + cause
            + "; its server (the launcher or rank 0) may have ended",
        cause);
  }
}
