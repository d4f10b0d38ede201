// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Address;
import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsStreams;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// An intermediary that forwards connections to a target on virtual threads. It may modify the
/// traffic, or terminate TLS on both sides to read it.
final class TcpRelay implements AutoCloseable {

  private static final int FLIP_EVERY = 100_003;
  private static final int HELLO_BYTES = 40;

  private final ServerSocket listener;
  private final InetSocketAddress target;
  private final Way way;
  private final List<Socket> sockets = new ArrayList<>();
  private final AtomicInteger termination = new AtomicInteger();
  private final AtomicLong untilFlip = new AtomicLong(Long.MAX_VALUE);
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

  /// The way in which a connection is forwarded.
  private interface Way {
    void carry(Socket from, Socket to) throws IOException;
  }

  private TcpRelay(Address target, TlsParty reader) throws IOException {
    String[] parts = target.location().split(":");
    this.target = new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
    listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    way = reader == null ? this::pass : (from, to) -> read(reader, from, to);
    Thread.startVirtualThread(this::accept);
  }

  /// Creates a relay that forwards opaque bytes.
  static TcpRelay to(Address target) throws IOException {
    return new TcpRelay(target, null);
  }

  /// Creates a relay that terminates TLS on both sides and so reads the traffic.
  static TcpRelay reading(TlsParty reader, Address target) throws IOException {
    return new TcpRelay(target, reader);
  }

  /// Returns the address to which callers of the target connect.
  Address address() {
    return new Address("tcp", "127.0.0.1:" + listener.getLocalPort());
  }

  /// Flips a bit of the caller's data after `bytes` bytes, and again at regular distances.
  void flipAfter(long bytes) {
    untilFlip.set(bytes);
  }

  /// Ends the next `times` connections instead of forwarding the caller's proof.
  void endBeforeTheVerdict(int times) {
    termination.set(times);
  }

  /// Returns the number of connections that it must still end.
  int termination() {
    return Math.max(0, termination.get());
  }

  /// Returns the caller's data as far as the relay could read it.
  synchronized String seen() {
    return seen.toString(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private void accept() {
    try {
      while (!listener.isClosed()) {
        Socket from = listener.accept();
        Socket to = new Socket();
        keep(from, to);
        to.connect(target);
        Thread.startVirtualThread(() -> untilTheEnd(from, to));
      }
    } catch (IOException closed) {
      close();
    }
  }

  private void untilTheEnd(Socket from, Socket to) {
    try (from;
        to) {
      way.carry(from, to);
    } catch (IOException gone) {
      // One side has ended, so the other one has been closed, too.
      assert from.isClosed();
    }
  }

  private synchronized void keep(Socket... more) {
    sockets.addAll(List.of(more));
  }

  private void pass(Socket from, Socket to) throws IOException {
    both(from.getInputStream(), to.getOutputStream(), to.getInputStream(), from.getOutputStream());
  }

  private void read(TlsParty reader, Socket from, Socket to) throws IOException {
    var caller = new TlsStreams(reader.answer(), from.getInputStream(), from.getOutputStream());
    caller.handshake();
    var called = new TlsStreams(reader.call(), to.getInputStream(), to.getOutputStream());
    called.handshake();
    // The frames of the handshake arrive in turn, because a pipe belongs to one thread.
    byte[] frame = new byte[1 << 16];
    InputStream in = caller.input();
    OutputStream out = called.output();
    for (boolean calling = true; ; calling = !calling) {
      int got = in.read(frame);
      if (got < 0) {
        return;
      }
      if (calling) {
        remember(frame, got);
      }
      out.write(frame, 0, got);
      out.flush();
      in = calling ? called.input() : caller.input();
      out = calling ? caller.output() : called.output();
    }
  }

  private synchronized void remember(byte[] bytes, int count) {
    seen.write(bytes, 0, count);
  }

  private void both(InputStream in, OutputStream out, InputStream backIn, OutputStream backOut)
      throws IOException {
    Thread back =
        Thread.startVirtualThread(
            () -> {
              try {
                backIn.transferTo(backOut);
                backOut.close();
              } catch (IOException gone) {
                closeAll();
              }
            });
    byte[] bytes = new byte[1 << 16];
    long said = 0;
    for (int got = in.read(bytes); got >= 0; got = in.read(bytes)) {
      said += got;
      if (said > HELLO_BYTES && termination.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        return;
      }
      long left = untilFlip.get();
      if (left < got) {
        bytes[(int) left] ^= 1;
        untilFlip.set(FLIP_EVERY);
      } else if (left != Long.MAX_VALUE) {
        untilFlip.addAndGet(-got);
      }
      out.write(bytes, 0, got);
    }
    back.interrupt();
  }

  private synchronized void closeAll() {
    for (Socket socket : sockets) {
      try {
        socket.close();
      } catch (IOException alreadyGone) {
        assert socket.isClosed();
      }
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException alreadyGone) {
      assert listener.isClosed();
    }
    closeAll();
  }
}
