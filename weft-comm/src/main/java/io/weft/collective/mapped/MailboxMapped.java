// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.collective.frame.MemoryDescriptor;
import io.weft.collective.group.Group;
import io.weft.collective.mailbox.MailboxSlots;
import io.weft.collective.mailbox.MailboxTask;
import io.weft.collective.mailbox.SharedMailboxes;
import io.weft.observer.OperationStage;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An allreduce or reduceScatter on the memory of all ranks without messages. Each member publishes
/// the location of its tensors in its slot, and updates its progress there.
final class MailboxMapped extends MailboxTask implements MappedLoop.Control {

  // Published fields: kind of memory, regions, number of parts in the bounce buffer, and number of
  // combined parts.
  private static final long KIND = 0;
  private static final long REGIONS = 8;
  private static final long PUBLISHED = REGIONS + MemoryDescriptor.REGION_BYTES;
  private static final long REDUCED = PUBLISHED + Long.BYTES;
  private static final long BYTES = REDUCED + Long.BYTES;

  private final Group group;
  private final SliceLayout layout;
  private @Nullable MappedLoop reduce;
  private @Nullable MailboxSlots slots;
  private @Nullable MemoryDescriptor own;
  private long number;
  private boolean begun;

  MailboxMapped(SharedMailboxes mailboxes, Group group, SliceLayout layout) {
    super(mailboxes);
    this.group = group;
    this.layout = layout;
  }

  @Override
  protected MemorySegment contribution(MailboxSlots open) {
    MappedLoop running = reduce;
    MemoryDescriptor memory = own;
    if (running == null || memory == null) {
      running = new MappedLoop(layout, group, open.context());
      reduce = running;
      memory = running.expose(this);
      own = memory;
    }
    MemorySegment published = open.context().scratch().asSlice(0, BYTES);
    published.set(JAVA_LONG, KIND, memory.kind());
    memory.write(published, REGIONS);
    published.set(JAVA_LONG, PUBLISHED, running.copiedIn());
    published.set(JAVA_LONG, REDUCED, 0);
    return published;
  }

  @Override
  protected int proceed(MailboxSlots open, long at) {
    MappedLoop running = running();
    slots = open;
    number = at;
    boolean first = !begun;
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank() && first) {
        MemorySegment theirs = open.contribution(m, at, BYTES);
        int kind = (int) theirs.get(JAVA_LONG, KIND);
        running.told(m, MemoryDescriptor.read(theirs, REGIONS, kind), 0);
      }
      if (m != group.rank() && (first || running.expects(m))) {
        running.onPublished(m, (int) open.told(m, at, PUBLISHED));
        running.onReduced(m, (int) open.told(m, at, REDUCED));
      }
    }
    if (first) {
      begun = true;
      running.begin();
    }
    return running.advance(this);
  }

  @Override
  public void tellPublished(int parts) {
    open().tell(number, PUBLISHED, parts);
  }

  @Override
  public void tellReduced(int parts) {
    open().tell(number, REDUCED, parts);
  }

  @Override
  public void tellStage(OperationStage stage) {
    reached(stage);
  }

  private MailboxSlots open() {
    return Objects.requireNonNull(slots, "within proceed");
  }

  private MappedLoop running() {
    return Objects.requireNonNull(reduce, "published before");
  }

  @Override
  protected boolean isComplete() {
    return running().isComplete();
  }

  @Override
  protected boolean needs(MailboxSlots open, int member, long at) {
    // Includes the progress since the last look, because the member may have left the job
    // afterwards.
    MappedLoop running = running();
    running.onPublished(member, (int) open.peek(member, at, PUBLISHED));
    running.onReduced(member, (int) open.peek(member, at, REDUCED));
    return running.needs(member);
  }

  @Override
  public void release() {
    if (reduce != null) {
      reduce.release();
    }
  }

  @Override
  protected void abandon() {
    if (reduce != null) {
      reduce.abandon();
    }
  }

  @Override
  protected boolean isVisited() {
    return reduce != null && reduce.isVisited();
  }

  @Override
  public boolean isWhole() {
    return super.isWhole() && layout.undone().isEmpty();
  }

  /// Returns the stage that does the same by messages, for an exchange that failed in the slots.
  MessageMapped byMessages() {
    return new MessageMapped(layout);
  }
}
