// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.cluster.Store;
import io.weft.transport.limit.OpenFiles;
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
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLException;

/// A rank's connection to a `TcpStoreServer`. Thread-safe; requests go one after the other, a long
/// wait lets others in every second.
public final class TcpStore implements Store {

  private static final Duration RETRY = Duration.ofMillis(50);
  private static final int CONNECT_MILLIS = 5_000;
  private static final int REPLY_MILLIS = 10_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final String location;

  /// A line on which nothing has been said.
  TcpStore(StoreLine line, String location) {
    this.socket = line.socket();
    this.location = location;
    this.in = new DataInputStream(new BufferedInputStream(line.in()));
    this.out = new DataOutputStream(new BufferedOutputStream(line.out()));
  }

  /// Connects, and tries again while nobody listens there yet. Throws `CommException.Setup` naming
  /// the address after `limit`, and at once where the server's secret is another one.
  public static TcpStore connect(String host, int port, JobTrust trust, Duration limit)
      throws InterruptedException {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    Deadline deadline = Deadline.after(limit);
    String location = host + ":" + port;
    Optional<TlsParty> party = Optional.empty();
    while (true) {
      try {
        InetAddress address = InetAddress.getByName(host);
        party = party.or(() -> trust.party(address));
        var at = new InetSocketAddress(address, port);
        return open(at, location, trust.secret(), party, CONNECT_MILLIS, deadline);
      } catch (SSLException refused) {
        throw refused(location, refused);
      } catch (IOException notYet) {
        if (deadline.passed()) {
          throw new CommException.Setup(
              "the bootstrap store at "
                  + location
                  + " was out of reach for "
                  + deadline
                  + " ("
                  + notYet
                  + openFiles.advice(notYet)
                  + "); is the launcher or rank 0 running, and does WEFT_STORE name it?",
              notYet);
        }
        deadline.pause(RETRY);
      }
    }
  }

  /// Connects with one try, for those who cannot wait: a host that can be reached answers within
  /// `reach`, however busy it is, and proves itself within `limit`. Throws `IOException` where it
  /// does not, `CommException.Setup` where the server's secret is another one.
  public static TcpStore connectOnce(
      String host, int port, JobTrust trust, Duration reach, Duration limit) throws IOException {
    String location = host + ":" + port;
    InetAddress address = InetAddress.getByName(host);
    var at = new InetSocketAddress(address, port);
    int millis = Math.toIntExact(reach.toMillis());
    try {
      return open(
          at, location, trust.secret(), trust.party(address), millis, Deadline.after(limit));
    } catch (SSLException refused) {
      throw refused(location, refused);
    }
  }

  /// This host's address towards the store: where peers can reach this rank.
  public InetAddress localAddress() {
    return socket.getLocalAddress();
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
      Secret secret,
      Optional<TlsParty> party,
      int connectMillis,
      Deadline deadline)
      throws IOException {
    var socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, deadline.remainingMillis(connectMillis));
      socket.setSoTimeout(deadline.remainingMillis(CONNECT_MILLIS));
      StoreLine line = StoreLine.call(socket, party);
      var store = new TcpStore(line, location);
      try {
        store.prove(secret, line.binding());
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

  /// Proves the secret to the server, and has it prove it. Throws `CommException.Setup` where it is
  /// no store, or another job's, and `IOException` where the line ends before that is known.
  void prove(Secret secret, byte[] binding) throws IOException {
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
            + " of the job the same WEFT_SECRET_FILE or WEFT_SECRET",
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
