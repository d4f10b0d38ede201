// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.file.ForeignFile;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A reader of a shard's file that verifies every byte. A torn or altered file throws a
/// `FileSystemException` with the file, the offset, and the actual and expected content, before
/// memory is allocated for it. Owned; one thread.
public final class ShardFileReader implements AutoCloseable {

  private final Path path;
  private final long length;
  private final InputStream in;
  private final CRC32C whole = new CRC32C();
  private final ShardFile header;
  private long offset;
  private long blocks;
  private long rows;
  private boolean ended;

  /// Opens the file and reads its header.
  public ShardFileReader(Path path) throws IOException {
    this.path = path;
    this.in = new BufferedInputStream(ForeignFile.found(path).open(), 1 << 16);
    try {
      this.length = Files.size(path);
      Block first = read();
      if (first.type() != Block.Type.HEADER) {
        throw damaged(0, "the first block is " + first.type() + ", expected HEADER");
      }
      try {
        this.header = ShardFile.parse(first.payload());
      } catch (IllegalArgumentException wrong) {
        throw damaged(0, String.valueOf(wrong.getMessage()));
      }
    } catch (IOException | RuntimeException unusable) {
      in.close();
      throw unusable;
    }
  }

  /// Returns the header.
  public ShardFile header() {
    return header;
  }

  /// Returns the next block of rows or elements, or null at the end.
  public @Nullable Block next() throws IOException {
    if (ended) {
      return null;
    }
    long at = offset;
    Block block = read();
    switch (block.type()) {
      case HEADER -> throw damaged(at, "a second header");
      case ROWS -> rows += block.count();
      case ELEMENTS -> {}
      case END -> {
        end(at, block);
        return null;
      }
    }
    return block;
  }

  private void end(long at, Block block) throws IOException {
    MemorySegment payload = MemorySegment.ofArray(block.payload());
    if (payload.byteSize() != 16
        || payload.get(JAVA_LONG_UNALIGNED, 0) != blocks
        || payload.get(JAVA_LONG_UNALIGNED, 8) != rows) {
      throw damaged(at, "its end does not count the %d blocks and %d rows".formatted(blocks, rows));
    }
    if (offset != length) {
      throw damaged(offset, (length - offset) + " bytes follow the end");
    }
    ended = true;
  }

  /// Returns the checksum of the whole file, after the last block.
  public int checksum() {
    return (int) whole.getValue();
  }

  private Block read() throws IOException {
    long at = offset;
    byte[] head = exactly(Block.HEAD_BYTES, "a block's head");
    Block block;
    try {
      int bytes = Block.payloadBytes(head);
      byte[] payload = exactly(bytes, "a block's payload");
      block = Block.of(head, payload);
      whole.update(head);
      whole.update(payload);
    } catch (IllegalArgumentException wrong) {
      throw damaged(at, String.valueOf(wrong.getMessage()));
    }
    blocks++;
    return block;
  }

  private byte[] exactly(int bytes, String what) throws IOException {
    if (bytes > length - offset) {
      throw damaged(
          offset,
          "%s of %d bytes was expected, and %d are left of %d: it is torn"
              .formatted(what, bytes, length - offset, length));
    }
    byte[] read = in.readNBytes(bytes);
    if (read.length != bytes) {
      throw damaged(offset, "it has become shorter while it was read");
    }
    offset += bytes;
    return read;
  }

  private FileSystemException damaged(long at, String why) {
    return new FileSystemException(path.toString(), null, "at offset " + at + ": " + why);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
