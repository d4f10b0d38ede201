// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.cluster.Store;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.Span;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsMark;
import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsPipe;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLException;

/// A rank's connection to a `TcpStoreServer`. Thread-safe; requests go one after the other, a long
/// wait lets others in every second.
public final class TcpStore implements Store {

  private static final Duration RETRY = Duration.ofMillis(50);
  private static final Duration RETRY_OTHER = Duration.ofMillis(200);
  private static final int CONNECT_MILLIS = 5_000;
  private static final int REPLY_MILLIS = 10_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final String location;
  private String meeting = "";
  private volatile String caution = "";

  /// A line on which nothing has been said.
  TcpStore(StoreLine line, String location) {
    this.socket = line.socket();
    this.location = location;
    this.in = new DataInputStream(new BufferedInputStream(line.in()));
    this.out = new DataOutputStream(new BufferedOutputStream(line.out()));
  }

  /// Connects, and tries again while nobody listens there yet, or another job's ranks meet there.
  /// Throws `CommException.Setup` naming address and reasons after `limit`, and at once where what
  /// answers at all of the host's addresses cannot be this job's store.
  public static TcpStore connect(String host, int port, JobTrust trust, Duration limit)
      throws InterruptedException {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    Deadline deadline = Deadline.after(limit);
    var attempts = new Attempts();
    var parties = new HashMap<InetAddress, Optional<TlsParty>>();
    while (true) {
      Optional<TcpStore> store =
          connectToAny(host, port, trust, deadline, attempts, parties, openFiles);
      if (store.isPresent()) {
        return store.get();
      }
      if (deadline.passed()) {
        throw new CommException.Setup(
            "the bootstrap store at "
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

  /// One try at each address of the host. Throws `CommException.Setup` where all of them answered,
  /// and none with this job's store.
  private static Optional<TcpStore> connectToAny(
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

  /// What else may be wrong where a name stands for an address that no other host can reach.
  private static String loopback(String host) {
    try {
      InetAddress[] all = InetAddress.getAllByName(host);
      if (Arrays.stream(all).allMatch(InetAddress::isLoopbackAddress)) {
        return " '"
            + host
            + "' is a loopback address here, by which only this host's own ranks are reached: if"
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

  /// `HOST:PORT`, with brackets where the host has colons.
  static String location(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }

  /// Connects with one try at each of the host's addresses, for those who cannot wait: a host that
  /// can be reached answers within `reach`, however busy it is, and proves itself within `limit`.
  /// Throws `IOException` where it does not, `CommException.Setup` where the server's secret is
  /// another one.
  public static TcpStore connectOnce(
      String host, int port, JobTrust trust, Duration reach, Duration limit) throws IOException {
    int millis = Math.clamp(Span.millis(reach), 1, Integer.MAX_VALUE);
    Deadline deadline = Deadline.after(limit);
    IOException failed = new UnknownHostException(host);
    for (InetAddress address : InetAddress.getAllByName(host)) {
      try {
        var at = new InetSocketAddress(address, port);
        return open(at, location(host, port), trust, trust.party(address), millis, deadline);
      } catch (SSLException refused) {
        throw refused(location(host, port), refused);
      } catch (IOException unreachable) {
        failed = unreachable;
      }
    }
    throw failed;
  }

  /// This host's address towards the store: where peers can reach this rank.
  public InetAddress localAddress() {
    return socket.getLocalAddress();
  }

  /// Says what may keep other ranks from this store, for the message when some do not come.
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
    lock.lock();
    try {
      socket.setSoTimeout(REPLY_MILLIS);
      request(StoreWire.PUT, key);
      out.writeInt(value.length);
      out.write(value);
      out.flush();
      int status = in.readUnsignedByte();
      if (status == StoreWire.FULL) {
        throw new CommException.Setup("the bootstrap store at " + location + " is full", null);
      }
      if (status != StoreWire.DONE) {
        throw new IOException("unexpected reply " + status);
      }
    } catch (IOException gone) {
      throw outOfReach(gone);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      int millis = deadline.passed() ? 0 : deadline.remainingMillis(StoreWire.MAX_WAIT_MILLIS);
      Optional<byte[]> value = find(key, millis);
      if (value.isPresent()) {
        return value.get();
      }
      if (millis == 0) {
        throw InMemoryStore.absent(key, "the store at " + location, timeout);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for '" + key + "'");
      }
    }
  }

  @Override
  public Optional<byte[]> find(String key) {
    return find(key, 0);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException alreadyGone) {
      // Nothing of value is lost: every request has been answered.
      assert socket.isClosed();
    }
  }

  private Optional<byte[]> find(String key, int waitMillis) {
    InMemoryStore.requireShort(key, 0);
    lock.lock();
    try {
      socket.setSoTimeout(waitMillis + REPLY_MILLIS);
      request(StoreWire.GET, key);
      out.writeInt(waitMillis);
      out.flush();
      int status = in.readUnsignedByte();
      if (status == StoreWire.ABSENT) {
        return Optional.empty();
      }
      int length = status == StoreWire.FOUND ? in.readInt() : -1;
      if (length < 0 || length > MAX_VALUE_BYTES) {
        throw new IOException("unexpected reply " + status + " with length " + length);
      }
      byte[] value = new byte[length];
      in.readFully(value);
      return Optional.of(value);
    } catch (IOException gone) {
      throw outOfReach(gone);
    } finally {
      lock.unlock();
    }
  }

  private void request(int kind, String key) throws IOException {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    out.writeByte(kind);
    out.writeShort(bytes.length);
    out.write(bytes);
  }

  private static TcpStore open(
      InetSocketAddress address,
      String location,
      JobTrust trust,
      Optional<TlsParty> party,
      int connectMillis,
      Deadline deadline)
      throws IOException {
    // Like the transports' sockets: the JVM's settings of a proxy are for other hosts than ranks'.
    var socket = new Socket(Proxy.NO_PROXY);
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, deadline.remainingMillis(connectMillis));
      socket.setSoTimeout(deadline.remainingMillis(CONNECT_MILLIS));
      StoreLine line = StoreLine.call(socket, party);
      var store = new TcpStore(line, location);
      try {
        store.prove(trust.secret(), trust.job(), line.binding());
      } catch (SSLException refused) {
        // The server looks at our certificate when our part of the handshake is over.
        throw TlsPipe.explained(refused);
      }
      return store;
    } catch (IOException | RuntimeException refused) {
      socket.close();
      throw refused;
    }
  }

  /// Proves secret and job to the server, and has it prove them. Throws `CommException.Setup` where
  /// it is no store or has another secret, `JobMismatch` where it is kept for another job, and
  /// `IOException` where the line ends before that is known.
  void prove(Secret secret, String job, byte[] binding) throws IOException {
    // Said at once, so that a server that waits for TLS sees who is there.
    out.write(StoreWire.magic());
    out.flush();
    byte[] magic = new byte[StoreWire.magicBytes()];
    in.readFully(magic, 0, TlsMark.BYTES);
    if (TlsMark.isTls(magic[0], magic[1])) {
      throw new CommException.Setup(
          "the bootstrap store at "
              + location
              + " encrypts; give the launcher and all ranks the same --secure (WEFT_SECURE), it is"
              + " off here",
          null);
    }
    in.readFully(magic, TlsMark.BYTES, magic.length - TlsMark.BYTES);
    if (!Arrays.equals(magic, StoreWire.magic())) {
      throw new CommException.Setup(
          "something else than a Weft store answers at "
              + location
              + "; set WEFT_STORE to the address of this job's store",
          null);
    }
    byte[] serverNonce = new byte[StoreWire.NONCE_BYTES];
    in.readFully(serverNonce);
    byte[] clientNonce = StoreWire.nonce();
    out.write(clientNonce);
    out.write(StoreWire.clientProof(secret, serverNonce, clientNonce, binding));
    out.flush();
    int status = in.readUnsignedByte();
    if (status == StoreWire.REFUSED) {
      throw differentSecret();
    }
    byte[] proof = new byte[StoreWire.PROOF_BYTES];
    in.readFully(proof);
    if (status != StoreWire.WELCOME
        || !StoreWire.same(
            StoreWire.serverProof(secret, serverNonce, clientNonce, binding), proof)) {
      throw differentSecret();
    }
    byte[] nonces = StoreWire.nonces(serverNonce, clientNonce);
    StoreWire.writeText(out, secret, 0, nonces, job);
    out.flush();
    int agreed = in.readUnsignedByte();
    String text = StoreWire.readText(in, secret, agreed, nonces);
    if (agreed != StoreWire.SAME_JOB) {
      throw new JobMismatch(
          "the store there is of job '" + text + "', this rank is of job '" + job + "'");
    }
    meeting = text;
  }

  private static CommException.Setup refused(String location, SSLException refused) {
    return new CommException.Setup(
        "the bootstrap store at " + location + " answered with " + refused.getMessage(), refused);
  }

  private CommException.Setup differentSecret() {
    return new CommException.Setup(
        "the bootstrap store at "
            + location
            + " has another secret than this rank; give all ranks"
            + " of the job the same WEFT_SECRET_FILE or WEFT_SECRET, or, if it is another job's,"
            + " another WEFT_STORE",
        null);
  }

  private CommException.Setup outOfReach(IOException cause) {
    return new CommException.Setup(
        "the bootstrap store at "
            + location
            + " is out of reach: "
            + cause
            + "; its keeper (the launcher or rank 0) may have ended",
        cause);
  }
}
