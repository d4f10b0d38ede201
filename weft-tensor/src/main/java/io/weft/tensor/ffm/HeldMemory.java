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

/// A holder of up to three arenas, which stay open while this thread accesses their memory by
/// address: `Arena.close` throws `IllegalStateException` until the work has ended. Java keeps an
/// arena open only during a native call that receives one of its segments, so the work runs inside
/// such a call. The C library's `bsearch`, searching an array of one element, takes two addresses,
/// reads neither, and calls its comparison once, which runs the work. This costs about 0.1
/// microseconds. One instance per thread; it allocates nothing after its creation.
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

  /// The native function, bound on first use.
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

  /// Returns the calling thread's instance, which holds no arena.
  ///
  /// Hot path.
  public static HeldMemory ofThread() {
    return OF_THREAD.get();
  }

  /// Returns whether the arena of this memory can be closed.
  ///
  /// Hot path.
  public static boolean canBeClosed(MemorySegment memory) {
    return !memory.scope().equals(NEVER_CLOSED);
  }

  /// Adds the arena of this memory to the arenas that the next `run` holds open.
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

  /// Runs `toDo` while all added arenas are held open, then removes them. Rethrows what `toDo`
  /// throws. Throws `IllegalStateException` before `toDo` runs if an arena is closed.
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

  /// Holds two more arenas, or runs the work if all are held.
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

  /// The comparison function without its arguments. It catches every throwable, because none may
  /// cross the native frame.
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
