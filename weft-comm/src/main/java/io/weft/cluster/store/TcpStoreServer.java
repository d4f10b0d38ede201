// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps a store for the ranks of a job, in the launcher or in rank 0. Serves whoever proves that
/// it knows the job's secret, and proves it in turn; everybody else is disconnected after at most 5
/// s. At most 128 connections may be unproved at a time, and 16,384 open. One virtual thread for
/// each connection.
public final class TcpStoreServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TcpStoreServer.class);
  private static final int MAX_UNPROVED = 128;
  private static final int MAX_OPEN = 16_384;
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final int BACKLOG = 1_024;

  private final OpenFiles openFiles;
  private final ServerSocket listener;
  private final Secret secret;
  private final InMemoryStore values = new InMemoryStore();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Semaphore unproved = new Semaphore(MAX_UNPROVED);

  private TcpStoreServer(OpenFiles openFiles, ServerSocket listener, Secret secret) {
    this.openFiles = openFiles;
    this.listener = listener;
    this.secret = secret;
  }

  /// Listens on exactly this address; port 0 takes a free one. Throws `CommException.Setup` with
  /// the address where it is taken or not this host's.
  public static TcpStoreServer bind(InetAddress address, int port, Secret secret) {
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
      var server = new TcpStoreServer(openFiles, listener, secret);
      Thread.ofVirtual().name("weft-store").start(server::accept);
      return server;
    } catch (IOException refused) {
      throw new CommException.Setup(
          "cannot keep the bootstrap store at "
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

  /// Where it listens, with the real port.
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /// `HOST:PORT` of `address()`, as WEFT_STORE has it.
  public String location() {
    String host = address().getAddress().getHostAddress();
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address().getPort();
  }

  /// Stops listening and disconnects everybody. A second call has no effect.
  @Override
  public void close() {
    closeQuietly(listener);
    open.forEach(TcpStoreServer::closeQuietly);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        if (open.size() >= MAX_OPEN || !unproved.tryAcquire()) {
          LOG.debug("too many connections; closed {}", socket.getRemoteSocketAddress());
          closeQuietly(socket);
          continue;
        }
        open.add(socket);
        Thread.ofVirtual().name("weft-store-session").start(() -> session(socket));
      } catch (IOException closedOrLimited) {
        if (!listener.isClosed()) {
          pause(closedOrLimited);
        }
      }
    }
  }

  /// Connections wait in the backlog meanwhile.
  private void pause(IOException limited) {
    LOG.warn(
        "the bootstrap store cannot accept: {}{}", limited.getMessage(), openFiles.advice(limited));
    LockSupport.parkNanos(PAUSE.toNanos());
  }

  private void session(Socket socket) {
    try (socket) {
      boolean proved;
      try {
        socket.setTcpNoDelay(true);
        proved = new StoreSession(socket, values, secret).opens();
      } finally {
        unproved.release();
      }
      if (proved && !listener.isClosed()) {
        new StoreSession(socket, values, secret).serve();
      }
    } catch (IOException gone) {
      LOG.debug("a connection ended: {}", gone.toString());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(socket);
    }
  }

  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception alreadyGone) {
      LOG.debug("closing: {}", alreadyGone.toString());
    }
  }
}
