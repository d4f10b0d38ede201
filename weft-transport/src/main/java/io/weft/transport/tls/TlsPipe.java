// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/// The TLS state of one connection without I/O: the caller writes received bytes to `room` and
/// sends `unsent`. During the handshake it buffers one record in each direction and one of plain
/// text, 17 KiB each; `open` enlarges the buffers, so that one socket call carries many records.
/// The buffers are on the heap, because the JDK's cipher works in place there. Confined to one
/// thread.
public final class TlsPipe {

  /// The next action that the handshake needs.
  public enum Need {
    /// The caller must call `work`, which computes for up to a few milliseconds.
    WORK,
    /// The caller must send `unsent`.
    SENDING,
    /// The caller must receive bytes from the peer.
    RECEIVING,
    /// The handshake has completed; all further data is encrypted.
    NOTHING
  }

  private static final int RECORDS = 16;
  private static final ByteBuffer[] NONE = {ByteBuffer.allocate(0)};

  private final SSLEngine engine;
  private final int recordBytes;
  // The plain text of one record that did not fit into the caller's buffer.
  private final ByteBuffer[] spare;
  private ByteBuffer incoming;
  private ByteBuffer outgoing;
  private int inStart;
  private int inEnd;
  private int outStart;
  private int outEnd;
  private boolean begun;
  private boolean refused;
  private boolean ended;

  /// True if decryption needs more received bytes.
  private boolean starved = true;

  TlsPipe(SSLEngine engine) {
    this.engine = engine;
    recordBytes = engine.getSession().getPacketBufferSize();
    incoming = ByteBuffer.allocate(recordBytes);
    outgoing = ByteBuffer.allocate(recordBytes);
    spare = new ByteBuffer[] {ByteBuffer.allocate(recordBytes).limit(0)};
  }

  /// Advances the handshake as far as possible. Throws if the peer's data is invalid; the message
  /// describes it. After `end`, `unsent` contains the alert for the peer.
  public Need handshake() throws SSLException {
    checkPlain();
    try {
      if (!begun) {
        begun = true;
        engine.beginHandshake();
      }
      return advance();
    } catch (SSLException | RuntimeException e) {
      // A JDK failure on a stranger's bytes must end only the stranger's connection.
      throw explained(e);
    }
  }

  /// Returns a TLS failure before authentication as an exception with advice.
  public static SSLException explained(Exception failure) {
    return new SSLException(
        "a failing TLS handshake: "
            + failure.getMessage()
            + "; check --secure, --tls-certificate and --tls-ca on both sides",
        failure);
  }

  private void checkPlain() throws SSLException {
    if (!begun || !TlsMark.isPlain(undecrypted())) {
      return;
    }
    if (!engine.getUseClientMode()) {
      ByteBuffer refusal = TlsMark.refusal();
      outStart = 0;
      outEnd = refusal.remaining();
      outgoing.clear().put(refusal);
    }
    refused = true;
    throw new SSLException(
        "a handshake that is not encrypted; give all ranks the same --secure (WEFT_SECURE), it is"
            + " on here");
  }

  private Need advance() throws SSLException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> {
          return Need.WORK;
        }
        case NEED_WRAP -> {
          if (!hasRoomForRecord()) {
            return Need.SENDING;
          }
          if (wrap(NONE, 0, 1).getStatus() == Status.CLOSED) {
            throw new SSLException("it ended during its handshake");
          }
        }
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          if (unwrapToSpare().getStatus() == Status.CLOSED) {
            throw new SSLException("the peer ended it during its handshake");
          }
          if (starved) {
            return Need.RECEIVING;
          }
        }
        case FINISHED, NOT_HANDSHAKING -> {
          return isSent() ? Need.NOTHING : Need.SENDING;
        }
      }
    }
  }

  /// Computes one step of the handshake.
  public void work() {
    Runnable task = engine.getDelegatedTask();
    if (task != null) {
      task.run();
    }
  }

  /// Enlarges the buffers to many records after the peer has proved itself.
  public void open() {
    ByteBuffer more = ByteBuffer.allocate(RECORDS * recordBytes);
    inEnd -= inStart;
    incoming = more.put(0, incoming, inStart, inEnd);
    inStart = 0;
    ByteBuffer most = ByteBuffer.allocate(RECORDS * recordBytes);
    outEnd -= outStart;
    outgoing = most.put(0, outgoing, outStart, outEnd);
    outStart = 0;
  }

  /// Returns a value that only the two ends of this connection know; see `TlsParty.binding`.
  public byte[] binding() throws SSLException {
    return TlsParty.binding(engine.getSession());
  }

  /// Returns the buffer for received bytes; it may be full while there are records to `decrypt`.
  ///
  /// Hot path.
  public ByteBuffer room() {
    if (inStart == inEnd) {
      inStart = 0;
      inEnd = 0;
    } else if (incoming.capacity() - inEnd < recordBytes && inStart > 0) {
      incoming.limit(inEnd).position(inStart);
      incoming.compact();
      inEnd -= inStart;
      inStart = 0;
    }
    return incoming.limit(incoming.capacity()).position(inEnd);
  }

  /// Records that `bytes` were received into `room`.
  ///
  /// Hot path.
  public void received(int bytes) {
    inEnd += bytes;
    starved &= bytes == 0;
  }

  /// Returns the received bytes that are not decrypted.
  public ByteBuffer undecrypted() {
    return incoming.limit(inEnd).position(inStart);
  }

  /// Returns the records for the peer; bytes read from the buffer count as sent only after `sent`.
  ///
  /// Hot path.
  public ByteBuffer unsent() {
    return outgoing.limit(outEnd).position(outStart);
  }

  /// Records that `bytes` of `unsent` were sent.
  ///
  /// Hot path.
  public void sent(int bytes) {
    outStart += bytes;
    if (outStart == outEnd) {
      outStart = 0;
      outEnd = 0;
    }
  }

  /// Returns whether all records were sent.
  ///
  /// Hot path.
  public boolean isSent() {
    return outStart == outEnd;
  }

  /// Encrypts as much as fits; returns the bytes taken from `from`.
  ///
  /// Hot path.
  public long encrypt(ByteBuffer[] from, int offset, int count) throws SSLException {
    long taken = 0;
    while (hasRemaining(from, offset, count) && hasRoomForRecord()) {
      SSLEngineResult result = wrap(from, offset, count);
      if (result.getStatus() == Status.CLOSED) {
        throw new SSLException("TLS has ended");
      }
      if (result.bytesProduced() == 0) {
        break;
      }
      taken += result.bytesConsumed();
    }
    return taken;
  }

  /// Decrypts complete records that fit into `into`, directly where a whole record fits. Returns
  /// the bytes, or -1 if the peer has ended its side. If a record's authentication fails, it throws
  /// and leaves no byte of that record in `into`.
  ///
  /// Hot path.
  public long decrypt(ByteBuffer[] into, int offset, int count) throws SSLException {
    long got = takeSpare(into, offset, count);
    while (!ended && !starved && hasRemaining(into, offset, count)) {
      SSLEngineResult result = unwrap(into, offset, count);
      if (result.getStatus() == Status.BUFFER_OVERFLOW) {
        result = unwrapToSpare();
        got += takeSpare(into, offset, count);
      } else {
        got += result.bytesProduced();
      }
      ended = result.getStatus() == Status.CLOSED;
      answer(result.getHandshakeStatus());
    }
    return got == 0 && ended ? -1 : got;
  }

  /// Returns whether `decrypt` would return bytes before more are received.
  ///
  /// Hot path.
  public boolean isReadable() {
    return spare[0].hasRemaining() || (!starved && !ended && inStart < inEnd);
  }

  /// Adds the end of the stream, or the alert about the peer's data, to `unsent` if there is room.
  public void end() {
    if (refused) {
      return;
    }
    engine.closeOutbound();
    try {
      while (hasRoomForRecord() && wrap(NONE, 0, 1).bytesProduced() > 0) {
        // An alert may precede the end.
      }
    } catch (SSLException nothingToSay) {
      ended = true;
    }
  }

  /// Answers the peer's TLS between records, for example a key update.
  private void answer(HandshakeStatus status) throws SSLException {
    HandshakeStatus next = status;
    while (next == HandshakeStatus.NEED_TASK
        || (next == HandshakeStatus.NEED_WRAP && hasRoomForRecord())) {
      if (next == HandshakeStatus.NEED_TASK) {
        work();
      } else if (wrap(NONE, 0, 1).bytesProduced() == 0) {
        return;
      }
      next = engine.getHandshakeStatus();
    }
  }

  private boolean hasRoomForRecord() {
    return outgoing.capacity() - outEnd >= recordBytes;
  }

  private SSLEngineResult wrap(ByteBuffer[] from, int offset, int count) throws SSLException {
    ByteBuffer into = outgoing.limit(outgoing.capacity()).position(outEnd);
    SSLEngineResult result = engine.wrap(from, offset, count, into);
    if (result.getStatus() == Status.BUFFER_OVERFLOW) {
      throw new SSLException("a record would be longer than " + recordBytes + " bytes");
    }
    outEnd += result.bytesProduced();
    return result;
  }

  private SSLEngineResult unwrap(ByteBuffer[] into, int offset, int count) throws SSLException {
    ByteBuffer from = incoming.limit(inEnd).position(inStart);
    SSLEngineResult result = engine.unwrap(from, into, offset, count);
    inStart += result.bytesConsumed();
    if (result.getStatus() == Status.BUFFER_UNDERFLOW) {
      if (inEnd - inStart >= recordBytes) {
        throw new SSLException("a record is longer than " + recordBytes + " bytes");
      }
      starved = true;
    }
    return result;
  }

  private SSLEngineResult unwrapToSpare() throws SSLException {
    spare[0].clear();
    try {
      return unwrap(spare, 0, 1);
    } finally {
      spare[0].flip();
    }
  }

  private long takeSpare(ByteBuffer[] into, int offset, int count) {
    ByteBuffer from = spare[0];
    long taken = 0;
    for (int i = offset; i < offset + count && from.hasRemaining(); i++) {
      int bytes = Math.min(from.remaining(), into[i].remaining());
      int limit = from.limit();
      into[i].put(from.limit(from.position() + bytes));
      from.limit(limit);
      taken += bytes;
    }
    return taken;
  }

  private static boolean hasRemaining(ByteBuffer[] buffers, int offset, int count) {
    for (int i = offset; i < offset + count; i++) {
      if (buffers[i].hasRemaining()) {
        return true;
      }
    }
    return false;
  }
}
