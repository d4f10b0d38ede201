// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// A separate process that connects to a test and echoes every message. If a message exports a
/// region of the test, the process fills that region with the message's first byte, and stays
/// inside the region if that byte is [#STAY_INSIDE].
final class EchoProcess {

  static final int STAY_INSIDE = 99;

  private EchoProcess() {}

  /// Starts a process that connects to `address`; `before` is the command prefix that starts it.
  static Process start(List<String> before, String classPath, Address address) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(java(classPath, EchoProcess.class));
    command.add(address.toString());
    return new ProcessBuilder(command).inheritIO().start();
  }

  /// Returns the command that starts a class with this JVM's flags.
  static List<String> java(String classPath, Class<?> main) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("--") || flag.startsWith("-XX:")) {
        command.add(flag);
      }
    }
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classPath));
    command.add(main.getName());
    return command;
  }

  /// Returns a message of a first byte and the export of a region.
  static MemorySegment invitation(int first, MemoryRegion region) {
    RemoteRegion remote = region.export();
    ByteBuffer message = ByteBuffer.allocate(29);
    message.put((byte) first).putLong(remote.address()).putLong(remote.bytes());
    message.putInt(remote.key()).putLong(remote.incarnation());
    return MemorySegment.ofArray(message.array());
  }

  private static RemoteRegion invited(byte[] message) {
    ByteBuffer bytes = ByteBuffer.wrap(message, 1, 28);
    return new RemoteRegion(bytes.getLong(), bytes.getLong(), bytes.getInt(), bytes.getLong());
  }

  public static void main(String[] args) throws IOException {
    Peer own = Peer.here(1);
    Endpoint endpoint = own.transport.connect(Address.parse(args[0]), 0);
    ArrayDeque<byte[]> toSend = new ArrayDeque<>();
    int taken = 0;
    while (own.failures.isEmpty()) {
      int work = own.transport.poll(System.nanoTime());
      while (taken < own.messages.size()) {
        byte[] message = own.messages.get(taken++);
        if (message.length == 29) {
          fill(endpoint, message);
        }
        toSend.add(message);
      }
      while (!toSend.isEmpty()
          && endpoint.trySend(MemorySegment.ofArray(toSend.peek())) == PostResult.POSTED) {
        toSend.remove();
        work++;
      }
      if (work == 0) {
        own.transport.await(1_000_000_000L);
      }
    }
    own.close();
  }

  private static void fill(Endpoint endpoint, byte[] message) {
    PeerMemory memory = endpoint.map(invited(message));
    if (memory == null || !memory.visit()) {
      throw new IllegalStateException("the test's region is not mapped");
    }
    memory.segment().fill(message[0]);
    memory.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    if (message[0] != STAY_INSIDE) {
      memory.leave();
    }
  }
}
