// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.UnprovenLimit;
import io.weft.transport.tls.TlsParty;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server of a job's store, in the launcher or in rank 0. It serves each client that proves
/// that it knows the job's secret and belongs to this job, and proves both to the client. It
/// disconnects other clients within a time limit. At most 128 connections may be unproven at once,
/// each for the time that `UnprovenLimit` allows. At most 16,384 may be open. Each connection has a
/// platform thread, because other code, such as a native call of the program, may block the
/// carriers of virtual threads and must not keep ranks from meeting.
public final class TcpStoreServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TcpStoreServer.class);
  private static final int MAX_OPEN = 16_384;
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final int MOST_UNREAD_BYTES = 1 << 16;
  private static final int BACKLOG = 1_024;
  private static final int MOST_OTHERS_SAID = 16;

  private final ScheduledThreadPoolExecutor limits =
      new ScheduledThreadPoolExecutor(
          1, Thread.ofPlatform().daemon().name("weft-store-limit").factory());
  private final OpenFiles openFiles;
  private final ServerSocket listener;
  private final JobTrust trust;
  private final Optional<TlsParty> party;
  private final Duration opening;
  private final String meeting = UUID.randomUUID().toString();
  private final InMemoryStore values = new InMemoryStore();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Set<String> othersSaid = ConcurrentHashMap.newKeySet();
  private final UnprovenConnections strangers = new UnprovenConnections(LOG);

  private TcpStoreServer(
      OpenFiles openFiles,
      ServerSocket listener,
      JobTrust trust,
      Optional<TlsParty> party,
      Duration opening) {
    this.openFiles = openFiles;
    this.listener = listener;
    this.trust = trust;
    this.party = party;
    this.opening = opening;
    limits.setRemoveOnCancelPolicy(true);
  }

  /// Listens on exactly this address; port 0 chooses a free one. Throws `CommException.Setup` with
  /// the address if it is in use or is not this host's.
  ///
  /// @param startDeadline the longest time in which the ranks may join
  public static TcpStoreServer bind(
      InetAddress address, int port, JobTrust trust, Duration startDeadline) {
    Optional<TlsParty> party = trust.party(address);
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    try {
      var listener = new ServerSocket();
      try {
        listener.setReuseAddress(true);
        listener.bind(new InetSocketAddress(address, port), BACKLOG);
      } catch (IOException refused) {
        listener.close();
        throw refused;
      }
      var server =
          new TcpStoreServer(
              openFiles, listener, trust, party, UnprovenLimit.handshakeTimeout(startDeadline));
      thread("weft-store").start(server::accept);
      return server;
    } catch (IOException refused) {
      throw new CommException.Setup(
          "cannot serve the job's store at "
              + address.getHostAddress()
              + ":"
              + port
              + ": "
              + refused.getMessage()
              + openFiles.advice(refused)
              + "; set WEFT_STORE to an address of this host with a free port",
          refused);
    }
  }

  /// The listening address, with the actual port.
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /// `HOST:PORT` of `address()`, the format of WEFT_STORE.
  public String location() {
    String host = address().getAddress().getHostAddress();
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address().getPort();
  }

  /// Returns the value that a client has stored under this key.
  public Optional<byte[]> find(String key) {
    return values.find(key);
  }

  /// Stops listening and disconnects all clients. A second call has no effect.
  @Override
  public void close() {
    closeQuietly(listener);
    limits.shutdownNow();
    open.forEach(TcpStoreServer::closeQuietly);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        if (open.size() >= MAX_OPEN) {
          strangers.log("has more than " + MAX_OPEN + " connections; closed another one");
          closeQuietly(socket);
          continue;
        }
        open.add(socket);
        strangers.admit(socket).ifPresent(TcpStoreServer::closeQuietly);
        serve(socket);
      } catch (IOException closedOrLimited) {
        if (!listener.isClosed()) {
          pause(closedOrLimited);
        }
      }
    }
  }

  /// Serves a connection on a new thread. Throws `IOException` if the system has no thread for it.
  private void serve(Socket socket) throws IOException {
    try {
      thread("weft-store-session").start(() -> session(socket));
    } catch (OutOfMemoryError noThread) {
      open.remove(socket);
      strangers.forget(socket);
      closeQuietly(socket);
      throw new IOException(noThread.getMessage(), noThread);
    }
  }

  /// Pauses accepting. Connections wait in the backlog.
  private void pause(IOException limited) {
    LOG.warn(
        "the job's store cannot accept: {}{}", limited.getMessage(), openFiles.advice(limited));
    LockSupport.parkNanos(ClampedDuration.nanos(PAUSE));
  }

  private void session(Socket socket) {
    try (socket) {
      Optional<StoreSession> proved = opened(socket);
      if (proved.isPresent() && !listener.isClosed()) {
        proved.get().serve();
      }
    } catch (IOException gone) {
      LOG.debug("a connection ended: {}", gone.toString());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(socket);
    }
  }

  private Optional<StoreSession> opened(Socket socket) throws IOException {
    SocketAddress from = socket.getRemoteSocketAddress();
    // Closes a connection whose opening exceeds the time limit, at any point of the opening.
    Future<?> limit;
    try {
      limit =
          limits.schedule(
              () -> closeQuietly(socket), ClampedDuration.millis(opening), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      return Optional.empty();
    }
    try {
      socket.setTcpNoDelay(true);
      var identity = new StoreSession.StoreIdentity(trust.job(), meeting);
      var session =
          new StoreSession(StoreLine.answer(socket, party), values, trust.secret(), identity);
      session.open(() -> strangers.spoke(socket));
      return Optional.of(session);
    } catch (JobMismatch other) {
      // The other job's ranks retry until this job's ranks have met.
      if (othersSaid.size() < MOST_OTHERS_SAID
          && othersSaid.add(String.valueOf(other.getMessage()))) {
        strangers.log("refused " + from + ": " + other.getMessage());
      }
      return Optional.empty();
    } catch (EOFException left) {
      strangers.log("lost " + from + " before it had proved that it knows the job's secret");
      return Optional.empty();
    } catch (IOException stranger) {
      strangers.log(
          "refused "
              + from
              + ": "
              + (limit.isDone()
                  ? "it had not proved within %d s that it knows the job's secret; a rank tries again"
                      .formatted(opening.toSeconds())
                  : stranger.getMessage()));
      dismiss(socket);
      return Optional.empty();
    } finally {
      limit.cancel(false);
      strangers.forget(socket);
    }
  }

  /// Lets the peer read the reason, because closing a socket with unread bytes would discard the
  /// last message.
  private static void dismiss(Socket socket) {
    try {
      socket.shutdownOutput();
      long unused = socket.getInputStream().skip(MOST_UNREAD_BYTES);
    } catch (IOException gone) {
      LOG.debug("a stranger went: {}", gone.toString());
    }
  }

  private static Thread.Builder thread(String name) {
    return Thread.ofPlatform().daemon().name(name);
  }

  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception alreadyGone) {
      LOG.debug("closing: {}", alreadyGone.toString());
    }
  }
}
