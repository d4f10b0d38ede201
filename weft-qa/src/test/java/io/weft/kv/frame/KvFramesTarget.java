// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.qa.fuzz.FuzzTarget;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// What workers and shards of a parameter server tell each other: the first byte says which.
public final class KvFramesTarget implements FuzzTarget {

  /// For the fuzzer.
  public KvFramesTarget() {}

  @Override
  public String name() {
    return "kv-frames";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] head = new byte[1 + KvHead.BYTES];
    new KvHead(KvOp.PUSH_PULL, KvHead.Keys.KEPT, 1, 2, 4, 3, 5, 6, 7, 8, 9)
        .write(MemorySegment.ofArray(head).asSlice(1));
    byte[] text = KvReply.refused("no table \u2603").encode().toArray(JAVA_BYTE);
    byte[] reply = new byte[1 + text.length];
    reply[0] = 1;
    System.arraycopy(text, 0, reply, 1, text.length);
    return List.of(head, reply);
  }

  @Override
  public void decode(byte[] input) {
    if (input.length == 0) {
      return;
    }
    MemorySegment bytes = MemorySegment.ofArray(input).asSlice(1);
    try {
      if ((input[0] & 1) == 0) {
        KvHead head = KvHead.read(bytes);
        MemorySegment again = MemorySegment.ofArray(new byte[KvHead.BYTES]);
        head.write(again);
        if (!KvHead.read(again).equals(head)) {
          throw new AssertionError("read back differently: " + head);
        }
      } else {
        KvReply reply = KvReply.read(bytes);
        KvReply again = KvReply.read(reply.encode());
        if (again.status() != reply.status()
            || again.applied() != reply.applied()
            || !again.text().equals(reply.text())
            || again.values().mismatch(reply.values()) >= 0) {
          throw new AssertionError("read back differently: " + reply);
        }
      }
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
