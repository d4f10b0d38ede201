// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.verbs.ffm.DataPath;
import io.weft.verbs.ffm.Errno;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One send request in native memory, reused for each post, so that posting allocates nothing. Only
/// one thread at a time may use it.
final class WorkRequests {

  /// The most parts of local memory of one request.
  static final int PARTS = 2;

  private static final int WRITE = 0;
  private static final int WRITE_IMMEDIATE = 1;
  private static final int READ = 4;
  private static final int FETCH_ADD = 6;

  private static final long ID = Structs.offset(Structs.SEND_WR, "wr_id");
  private static final long LIST = Structs.offset(Structs.SEND_WR, "sg_list");
  private static final long COUNT = Structs.offset(Structs.SEND_WR, "num_sge");
  private static final long OPCODE = Structs.offset(Structs.SEND_WR, "opcode");
  private static final long FLAGS = Structs.offset(Structs.SEND_WR, "send_flags");
  private static final long IMMEDIATE = Structs.offset(Structs.SEND_WR, "imm_data");
  private static final long REMOTE = Structs.offset(Structs.SEND_WR, "remote_addr");
  private static final long KEY = Structs.offset(Structs.SEND_WR, "rkey");
  private static final long SWAP = Structs.offset(Structs.SEND_WR, "swap");
  private static final long ATOMIC_KEY = Structs.offset(Structs.SEND_WR, "atomic_rkey");
  private static final long ADDRESS = Structs.offset(Structs.SGE, "addr");
  private static final long LENGTH = Structs.offset(Structs.SGE, "length");
  private static final long LOCAL_KEY = Structs.offset(Structs.SGE, "lkey");

  private final DataPath path;
  private final long queuePair;
  private final MemorySegment request;
  private final MemorySegment part;
  private final MemorySegment bad;
  private @Nullable Registration claimed;
  private @Nullable Registration appended;

  WorkRequests(DataPath path, long queuePair, Arena arena) {
    this.path = path;
    this.queuePair = queuePair;
    request = arena.allocate(Structs.SEND_WR);
    part = arena.allocate(Structs.SGE, PARTS);
    bad = arena.allocate(JAVA_LONG);
    request.set(JAVA_LONG, LIST, part.address());
  }

  /// Sets the local part of the next request. Returns true.
  ///
  /// Hot path.
  boolean local(long id, int flags, Registration memory, long offset, int bytes) {
    Objects.checkFromIndexSize(offset, bytes, memory.memory().byteSize());
    request.set(JAVA_LONG, ID, id);
    request.set(JAVA_INT, FLAGS, flags);
    request.set(JAVA_INT, COUNT, appended == null ? 1 : PARTS);
    part(0, memory, offset, bytes);
    claimed = memory;
    return true;
  }

  /// Adds memory after the local part of the next request.
  ///
  /// Hot path.
  void append(Registration memory, long offset, int bytes) {
    Objects.checkFromIndexSize(offset, bytes, memory.memory().byteSize());
    part(Structs.SGE.byteSize(), memory, offset, bytes);
    appended = memory;
  }

  private void part(long at, Registration memory, long offset, int bytes) {
    part.set(JAVA_LONG, at + ADDRESS, memory.memory().address() + offset);
    part.set(JAVA_INT, at + LENGTH, bytes);
    part.set(JAVA_INT, at + LOCAL_KEY, memory.localKey());
  }

  /// Sets the local part of the next request, which has no memory. Returns true.
  ///
  /// Hot path.
  boolean empty(long id, int flags) {
    request.set(JAVA_LONG, ID, id);
    request.set(JAVA_INT, FLAGS, flags);
    request.set(JAVA_INT, COUNT, 0);
    claimed = null;
    return true;
  }

  boolean write(long remote, int key) {
    request.set(JAVA_INT, OPCODE, WRITE);
    return post(remote, key);
  }

  boolean writeImmediate(long remote, int key, int immediate) {
    request.set(JAVA_INT, OPCODE, WRITE_IMMEDIATE);
    request.set(JAVA_INT, IMMEDIATE, Integer.reverseBytes(immediate));
    return post(remote, key);
  }

  boolean read(long remote, int key) {
    request.set(JAVA_INT, OPCODE, READ);
    return post(remote, key);
  }

  boolean fetchAdd(long remote, int key, long add) {
    request.set(JAVA_INT, OPCODE, FETCH_ADD);
    request.set(JAVA_LONG, REMOTE, remote);
    // The operand occupies the position of the key in other requests.
    request.set(JAVA_LONG, KEY, add);
    request.set(JAVA_LONG, SWAP, 0);
    request.set(JAVA_INT, ATOMIC_KEY, key);
    return post();
  }

  private boolean post(long remote, int key) {
    request.set(JAVA_LONG, REMOTE, remote);
    request.set(JAVA_INT, KEY, key);
    return post();
  }

  private boolean post() {
    Registration memory = claimed;
    Registration second = appended;
    appended = null;
    if (memory != null) {
      memory.claim();
    }
    if (second != null) {
      second.claim();
    }
    int result = path.postSend(queuePair, request, bad);
    if (result == 0) {
      return true;
    }
    if (memory != null) {
      memory.settle();
    }
    if (second != null) {
      second.settle();
    }
    return refused(result);
  }

  private static boolean refused(int result) {
    // Drivers return ENOMEM if a queue is full.
    if (result == -Errno.ENOMEM || result == -Errno.EAGAIN) {
      return false;
    }
    throw new VerbsException("post to a send queue", -result, "");
  }
}
