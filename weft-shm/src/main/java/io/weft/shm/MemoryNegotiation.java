// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The negotiation of shared memory over an authenticated TCP connection. Each end sends the
/// location of its memory, tries to map the other's, and reports the result. Unless both succeed,
/// neither uses it.
final class MemoryNegotiation {

  /// The result, which both ends know after the negotiation.
  enum NegotiationResult {
    UNDECIDED,
    SHARED,
    APART
  }

  private final ShmMemory home;
  private final int linkNumber;
  private final MemorySegment link;
  private final int linkDescriptor;
  private final @Nullable MemoryFile file;
  private String problem;
  private ShmGreeting.@Nullable Hello hello;
  private @Nullable MemorySegment peerControl;
  private @Nullable MemorySegment peerLink;
  private NegotiationResult outcome = NegotiationResult.UNDECIDED;

  /// Creates the link file for this connection.
  MemoryNegotiation(ShmMemory home) {
    this.home = home;
    linkNumber = home.nextLink();
    MemoryFile made = null;
    String trouble = "";
    try {
      made =
          MemoryFile.create(
              linkName(home.prefix(), linkNumber), ControlLayout.LINK_BYTES, Arena.ofAuto());
    } catch (IOException e) {
      trouble = "cannot create a link file: " + e.getMessage();
    }
    file = made;
    link = made == null ? MemorySegment.NULL : made.memory();
    linkDescriptor = made == null ? -1 : made.descriptor();
    problem = trouble;
  }

  private static String linkName(String prefix, int number) {
    return prefix + "link-" + number;
  }

  /// Returns the first greeting to send.
  ShmGreeting open() {
    return new ShmGreeting.Hello(
        problem.isEmpty() ? home.host().identity() : "",
        ProcessHandle.current().pid(),
        home.control().descriptor(),
        linkDescriptor,
        linkNumber,
        home.incarnation());
  }

  /// Processes a greeting of the peer; returns the answer, or null.
  @Nullable ShmGreeting hear(ShmGreeting greeting) throws ShmFault {
    return switch (greeting) {
      case ShmGreeting.Hello heard when hello == null -> {
        hello = heard;
        map(heard);
        yield new ShmGreeting.Decision(problem);
      }
      case ShmGreeting.Decision verdict
          when hello != null && outcome == NegotiationResult.UNDECIDED -> {
        if (problem.isEmpty() && !verdict.problem().isEmpty()) {
          problem = "the peer says: " + verdict.problem();
        }
        decide();
        yield null;
      }
      default -> throw new ShmFault("an unexpected greeting");
    };
  }

  private void map(ShmGreeting.Hello heard) {
    if (!problem.isEmpty()) {
      return;
    }
    problem = home.host().apartFrom(heard.host());
    if (!problem.isEmpty()) {
      return;
    }
    try {
      String prefix = ShmMemory.prefix(heard.incarnation());
      peerControl = ControlFile.ofPeer(heard.process(), heard.control(), prefix);
      peerLink =
          MemoryFile.open(
              heard.process(),
              heard.link(),
              linkName(prefix, heard.linkNumber()),
              ControlLayout.LINK_BYTES,
              Arena.ofAuto());
    } catch (IOException e) {
      problem = "its memory cannot be mapped: " + e.getMessage();
    }
  }

  private void decide() {
    outcome = problem.isEmpty() ? NegotiationResult.SHARED : NegotiationResult.APART;
    close();
  }

  /// Prevents further opening of the link file; mappings remain.
  void close() {
    MemoryFile open = file;
    if (open != null && !closed) {
      closed = true;
      open.closeDescriptor();
    }
  }

  private boolean closed;

  NegotiationResult outcome() {
    return outcome;
  }

  /// Returns the reason why memory is not shared; empty if it is.
  String problem() {
    return problem;
  }

  /// Returns whether the two could share memory if they were started differently.
  boolean isOneMachine() {
    ShmGreeting.Hello heard = hello;
    return heard != null && home.host().isOneMachineWith(heard.host());
  }

  ShmGreeting.Hello peer() {
    ShmGreeting.Hello heard = hello;
    if (heard == null) {
      throw new IllegalStateException("the peer has not sent a greeting yet");
    }
    return heard;
  }

  MemorySegment link() {
    return link;
  }

  MemorySegment peerControl() {
    return mapped(peerControl);
  }

  MemorySegment peerLink() {
    return mapped(peerLink);
  }

  private static MemorySegment mapped(@Nullable MemorySegment memory) {
    if (memory == null) {
      throw new IllegalStateException("the peer's memory is not mapped");
    }
    return memory;
  }
}
