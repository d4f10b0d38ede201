// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/// One connection's TLS as a function from bytes to bytes: what the network brings goes into
/// `room`, what it must carry is in `unsent`. During the handshake it holds one record in each
/// direction and one of plain text, 17 KiB each; `open` gives it room for many, so that one call of
/// the socket carries many records. The buffers are on the heap, where the JDK's cipher works in
/// place. Confined to one thread.
public final class TlsPipe {

  /// What the handshake needs to go on.
  public enum Need {
    /// `work` is to be called: up to a few milliseconds of arithmetic.
    WORK,
    /// `unsent` is to be sent.
    SENDING,
    /// Bytes of the peer.
    RECEIVING,
    /// Nothing; the connection is encrypted from here on.
    NOTHING
  }

  private static final int RECORDS = 16;
  private static final ByteBuffer[] NONE = {ByteBuffer.allocate(0)};

  private final SSLEngine engine;
  private final int recordBytes;
  // Plain text of one record that did not fit where it was wanted, ready to be taken.
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

  /// Nothing more can be decrypted before more bytes come.
  private boolean starved = true;

  TlsPipe(SSLEngine engine) {
    this.engine = engine;
    recordBytes = engine.getSession().getPacketBufferSize();
    incoming = ByteBuffer.allocate(recordBytes);
    outgoing = ByteBuffer.allocate(recordBytes);
    spare = new ByteBuffer[] {ByteBuffer.allocate(recordBytes).limit(0)};
  }

  /// Goes on with the handshake as far as it can. Throws when the peer's part is wrong, saying what
  /// it sent; after `end`, `unsent` has what tells it so.
  public Need handshake() throws SSLException {
    checkPlain();
    try {
      if (!begun) {
        begun = true;
        engine.beginHandshake();
      }
      return advance();
    } catch (SSLException | RuntimeException e) {
      // Whatever a stranger's bytes do to the JDK ends the stranger's connection and nothing else.
      throw explained(e);
    }
  }

  /// A failure of TLS before anything is proved, with what to look at.
  public static SSLException explained(Exception failure) {
    return new SSLException(
        "TLS that fails: "
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

  /// Does one piece of the handshake's arithmetic.
  public void work() {
    Runnable task = engine.getDelegatedTask();
    if (task != null) {
      task.run();
    }
  }

  /// The peer is proved: from here on many records may wait.
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

  /// What only the two ends of this connection know; see `TlsParty.binding`.
  public byte[] binding() throws SSLException {
    return TlsParty.binding(engine.getSession());
  }

  /// Where bytes of the peer go; may have no room while there are records to `decrypt`.
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

  /// So many bytes came into `room`.
  ///
  /// Hot path.
  public void received(int bytes) {
    inEnd += bytes;
    starved &= bytes == 0;
  }

  /// What came and is not decrypted.
  public ByteBuffer undecrypted() {
    return incoming.limit(inEnd).position(inStart);
  }

  /// Records for the peer; what is read from it counts as sent after `sent`.
  ///
  /// Hot path.
  public ByteBuffer unsent() {
    return outgoing.limit(outEnd).position(outStart);
  }

  /// So many bytes of `unsent` are on their way.
  ///
  /// Hot path.
  public void sent(int bytes) {
    outStart += bytes;
    if (outStart == outEnd) {
      outStart = 0;
      outEnd = 0;
    }
  }

  /// Whether everything is on its way.
  ///
  /// Hot path.
  public boolean isSent() {
    return outStart == outEnd;
  }

  /// Encrypts as much as there is room for; returns the bytes taken from `from`.
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

  /// Decrypts into `into` what is complete and fits, straight where a whole record fits; returns
  /// the bytes, or -1 when the peer has ended its side. Throws when a record's authentication
  /// fails: no byte of it is then in `into`.
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

  /// Whether `decrypt` would return something before more bytes come.
  ///
  /// Hot path.
  public boolean isReadable() {
    return spare[0].hasRemaining() || (!starved && !ended && inStart < inEnd);
  }

  /// Says that nothing more will come, or why the peer is not understood; it is in `unsent` then,
  /// if there was room.
  public void end() {
    if (refused) {
      return;
    }
    engine.closeOutbound();
    try {
      while (hasRoomForRecord() && wrap(NONE, 0, 1).bytesProduced() > 0) {
        // There may be an alert before the end.
      }
    } catch (SSLException nothingToSay) {
      ended = true;
    }
  }

  /// What the peer's TLS wants to hear in between, such as new keys.
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
