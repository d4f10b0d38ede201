// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvReply;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// Answers the commands sent to a server, sequentially by an executor. Any thread.
final class CommandAnswers implements AutoCloseable {

  private final int self;
  private final KvCommands commands;
  private final AgentRunner clock;
  private final ExecutorService executor;
  private volatile @Nullable Running running;

  /// A command whose answer is in progress.
  private record Running(int rank, String command, long sinceNanos) {}

  /// @param executor runs one command at a time; shut down by `close`
  CommandAnswers(int self, KvCommands commands, AgentRunner clock, ExecutorService executor) {
    this.self = self;
    this.clock = clock;
    this.commands = commands;
    this.executor = executor;
  }

  /// Schedules the answer to a command. The channel's bound on open requests bounds the queue.
  void answer(IncomingRequest request) {
    try {
      executor.execute(() -> request.reply(reply(request).encode()));
    } catch (RejectedExecutionException ended) {
      request.fail("the server has ended");
    }
  }

  private KvReply reply(IncomingRequest request) {
    String command;
    try {
      command = text(request.payload());
    } catch (IllegalArgumentException wrong) {
      return KvReply.refused("rank " + self + ": " + wrong.getMessage());
    }
    running = new Running(request.fromRank(), command, clock.nanos());
    try {
      Optional<String> answer = commands.answer(request.fromRank(), command);
      return Objects.requireNonNull(answer, "no Optional, but null")
          .map(this::reply)
          .orElseGet(
              () ->
                  KvReply.refused(
                      "rank %d knows no command '%s'; give all ranks its handler with KvOptions.withCommands"
                          .formatted(self, command)));
    } catch (RuntimeException failed) {
      return KvReply.refused(
          "rank %d: command '%s' failed: %s".formatted(self, command, failed.getMessage()));
    } finally {
      running = null;
    }
  }

  /// Returns a description of the command in progress with its duration, or null if there is none.
  @Nullable String running() {
    Running now = running;
    return now == null
        ? null
        : "the program on rank %d answers command '%s' of rank %d for %.1f s; others wait for that"
            .formatted(self, now.command(), now.rank(), (clock.nanos() - now.sinceNanos()) / 1e9);
  }

  private KvReply reply(String answer) {
    byte[] words = answer.getBytes(StandardCharsets.UTF_8);
    return words.length > KvCommands.MOST_BYTES
        ? KvReply.refused(
            "rank %d: an answer of %d bytes; at most %d"
                .formatted(self, words.length, KvCommands.MOST_BYTES))
        : KvReply.done(0, MemorySegment.ofArray(words));
  }

  /// Decodes a command or an answer. Throws `IllegalArgumentException` if it is too long or not
  /// UTF-8.
  static String text(MemorySegment from) {
    if (from.byteSize() > KvCommands.MOST_BYTES) {
      throw new IllegalArgumentException(
          "a text of %d bytes; at most %d".formatted(from.byteSize(), KvCommands.MOST_BYTES));
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(from.toArray(JAVA_BYTE)))
          .toString();
    } catch (CharacterCodingException wrong) {
      throw new IllegalArgumentException("a text that is not UTF-8", wrong);
    }
  }

  @Override
  public void close() {
    executor.shutdown();
  }
}
