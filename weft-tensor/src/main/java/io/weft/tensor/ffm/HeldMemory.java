// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.MemorySegment.Scope;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Arenas that nobody can close while this thread works on their memory by its address:
/// `Arena.close` throws `IllegalStateException` meanwhile. Java holds an arena open only for the
/// time of a native call that is given a segment of it. So the work is done inside of one:
/// `bsearch` of the C library, looking for a key in an array of one element, takes two addresses,
/// reads neither, and calls its comparison once, which is the work. Costs some 0.1 microseconds.
/// One instance a thread; allocates nothing once it is there.
public final class HeldMemory {

  private static final Scope NEVER_CLOSED = MemorySegment.NULL.scope();
  private static final int MOST_SEGMENTS = 3;

  /// `int compar(const void *, const void *)`.
  private static final FunctionDescriptor COMPARISON =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG);

  /// `void *bsearch(const void *key, const void *base, size_t nmemb, size_t size, int
  /// (*compar)(const void *, const void *))`.
  private static final FunctionDescriptor SEARCH =
      FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);

  private static final ThreadLocal<HeldMemory> OF_THREAD = ThreadLocal.withInitial(HeldMemory::new);

  private final MemorySegment[] held = new MemorySegment[MOST_SEGMENTS];
  private int count;
  private int next;
  private @Nullable Runnable work;
  private @Nullable Throwable thrown;

  private HeldMemory() {}

  /// The native function, bound when it is first needed.
  private static final class Search {

    static final MemorySegment FOUND = found();
    static final MethodHandle BSEARCH = bsearch();

    @SuppressWarnings("restricted")
    private static MethodHandle bsearch() {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker
              .defaultLookup()
              .find("bsearch")
              .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no bsearch")),
          SEARCH);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment found() {
      try {
        MethodHandle found =
            MethodHandles.lookup()
                .findStatic(HeldMemory.class, "found", MethodType.methodType(int.class));
        MethodHandle comparison = MethodHandles.dropArguments(found, 0, long.class, long.class);
        return Linker.nativeLinker().upcallStub(comparison, COMPARISON, Arena.global());
      } catch (ReflectiveOperationException absent) {
        throw new IllegalStateException(absent);
      }
    }
  }

  /// This thread's, holding nothing.
  ///
  /// Hot path.
  public static HeldMemory ofThread() {
    return OF_THREAD.get();
  }

  /// Whether somebody might close the arena of this memory.
  ///
  /// Hot path.
  public static boolean canBeClosed(MemorySegment memory) {
    return !memory.scope().equals(NEVER_CLOSED);
  }

  /// Holds the arena of this memory, too, during the next `run`.
  ///
  /// Hot path.
  public void add(MemorySegment memory) {
    if (canBeClosed(memory) && !isHeld(memory.scope())) {
      held[count++] = memory;
    }
  }

  private boolean isHeld(Scope scope) {
    for (int i = 0; i < count; i++) {
      if (held[i].scope().equals(scope)) {
        return true;
      }
    }
    return false;
  }

  /// Does the work while all that was added is held, and forgets it. Throws what the work throws,
  /// and `IllegalStateException` before anything is done where an arena is closed.
  ///
  /// Hot path.
  public void run(Runnable toDo) {
    work = toDo;
    next = 0;
    try {
      descend();
      Throwable failure = thrown;
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure instanceof RuntimeException exception) {
        throw exception;
      }
    } finally {
      for (int i = 0; i < count; i++) {
        held[i] = MemorySegment.NULL;
      }
      count = 0;
      work = null;
      thrown = null;
    }
  }

  /// Holds two more, or does the work if all are held.
  private void descend() {
    if (next >= count) {
      Objects.requireNonNull(work).run();
      return;
    }
    MemorySegment first = held[next];
    MemorySegment second = next + 1 < count ? held[next + 1] : first;
    next += 2;
    try {
      long unused = (long) Search.BSEARCH.invokeExact(first, second, 1L, 1L, Search.FOUND);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("bsearch threw", e);
    }
  }

  /// The comparison, but for its arguments. Nothing that is thrown may leave it.
  @SuppressWarnings("UnusedMethod") // called by bsearch
  private static int found() {
    HeldMemory mine = OF_THREAD.get();
    try {
      mine.descend();
    } catch (Throwable failure) {
      mine.thrown = failure;
    }
    return 0;
  }
}
