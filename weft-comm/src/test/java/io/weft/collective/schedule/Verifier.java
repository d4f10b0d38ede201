// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Proves an algorithm for one world size without a network: it runs all ranks' schedules on
/// symbols. A chunk's symbol is the number of times that each rank's contribution is in it, and the
/// tree of its additions, up to commutation, because equal trees mean bitwise equal sums on all
/// ranks.
public final class Verifier {

  private Verifier() {}

  private record Symbol(int[] contributions, long tree) {}

  /// A run of chunks in flight.
  private record Run(int chunk, List<Symbol> symbols) {}

  /// Throws `IllegalStateException`, naming rank, chunk and fault, if the algorithm misses the
  /// goal, leaves a send unmatched, or never ends.
  public static void prove(Algorithm algorithm, Goal goal, int size) {
    check(algorithm, goal, ended(algorithm, size));
  }

  /// Proves an allreduce. Returns for each chunk the tree by which it adds the ranks'
  /// contributions, as a number.
  static List<Long> orders(Algorithm algorithm, int size) {
    Symbol[][] state = ended(algorithm, size);
    check(algorithm, Goal.ALLREDUCE, state);
    return Arrays.stream(state[0]).map(Symbol::tree).toList();
  }

  private static void check(Algorithm algorithm, Goal goal, Symbol[][] state) {
    for (int r = 0; r < state.length; r++) {
      for (int c = 0; c < state[r].length; c++) {
        check(algorithm, goal, r, c, state);
      }
    }
  }

  /// Returns the symbols of each rank's chunks after all schedules have run.
  private static Symbol[][] ended(Algorithm algorithm, int size) {
    int chunks = algorithm.chunks(size);
    Symbol[][] state = new Symbol[size][chunks];
    List<List<List<Step>>> schedules = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      schedules.add(algorithm.schedule(r, size));
      for (int c = 0; c < chunks; c++) {
        int[] own = new int[size];
        own[r] = 1;
        state[r][c] = new Symbol(own, mix(r + 1L));
      }
    }
    run(algorithm, size, schedules, state);
    return state;
  }

  private static void run(
      Algorithm algorithm, int size, List<List<List<Step>>> schedules, Symbol[][] state) {
    List<ArrayDeque<Run>> context = new ArrayList<>();
    Map<List<Integer>, Symbol[]> gathered = new HashMap<>();
    for (int i = 0; i < size * size; i++) {
      context.add(new ArrayDeque<>());
    }
    int[] round = new int[size];
    int[] step = new int[size];
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int r = 0; r < size; r++) {
        while (round[r] < schedules.get(r).size()) {
          List<Step> steps = schedules.get(r).get(round[r]);
          if (step[r] == 0) {
            sendAll(r, size, steps, state, context);
          }
          int before = step[r];
          step[r] = receive(algorithm, r, size, steps, step[r], state, context, gathered);
          moved |= step[r] != before;
          if (step[r] < steps.size()) {
            break;
          }
          round[r]++;
          step[r] = 0;
          moved = true;
        }
      }
    }
    for (int r = 0; r < size; r++) {
      if (round[r] < schedules.get(r).size()) {
        throw wrong(algorithm, size, "rank " + r + " waits for ever in round " + round[r]);
      }
    }
    if (!gathered.isEmpty()) {
      throw wrong(algorithm, size, "leaves are missing in the trees of " + gathered.keySet());
    }
    for (int i = 0; i < context.size(); i++) {
      if (!context.get(i).isEmpty()) {
        throw wrong(
            algorithm, size, "rank " + i / size + " sends " + i % size + " what it never receives");
      }
    }
  }

  private static void sendAll(
      int rank, int size, List<Step> steps, Symbol[][] state, List<ArrayDeque<Run>> context) {
    for (Step s : steps) {
      if (s instanceof Step.Send send) {
        context
            .get(rank * size + send.peer())
            .add(new Run(send.chunk(), symbols(state[rank], send)));
      }
    }
  }

  private static int receive(
      Algorithm algorithm,
      int rank,
      int size,
      List<Step> steps,
      int from,
      Symbol[][] state,
      List<ArrayDeque<Run>> context,
      Map<List<Integer>, Symbol[]> gathered) {
    int at = from;
    for (; at < steps.size(); at++) {
      Step s = steps.get(at);
      if (s instanceof Step.Send) {
        continue;
      }
      Run run = context.get(s.peer() * size + rank).poll();
      if (run == null) {
        return at;
      }
      if (run.chunk() != s.chunk() || run.symbols().size() != s.chunks()) {
        throw wrong(
            algorithm,
            size,
            "rank "
                + rank
                + " expects chunk "
                + s.chunk()
                + " and those after it, "
                + s.chunks()
                + " in all, of "
                + s.peer()
                + ", gets "
                + run.chunk()
                + ", "
                + run.symbols().size()
                + " in all");
      }
      for (int i = 0; i < s.chunks(); i++) {
        int c = s.chunk() + i;
        Symbol got = run.symbols().get(i);
        state[rank][c] =
            switch (s) {
              case Step.ReceiveCopy _ -> got;
              case Step.ReceiveReduce _ -> combined(state[rank][c], got);
              case Step.ReceiveLeaf leaf -> leaf(state[rank][c], got, leaf, gathered, rank, c);
              case Step.Send _ -> throw new IllegalStateException("a send is no receive");
            };
      }
    }
    return at;
  }

  private static List<Symbol> symbols(Symbol[] state, Step step) {
    return List.of(Arrays.copyOfRange(state, step.chunk(), step.chunk() + step.chunks()));
  }

  /// Keeps the symbol received for a leaf, and combines the tree after its last leaf.
  private static Symbol leaf(
      Symbol own,
      Symbol got,
      Step.ReceiveLeaf step,
      Map<List<Integer>, Symbol[]> gathered,
      int rank,
      int chunk) {
    Symbol[] leaves =
        gathered.computeIfAbsent(List.of(rank, chunk), _ -> new Symbol[step.leaves()]);
    leaves[step.own()] = own;
    leaves[step.leaf()] = got;
    if (Arrays.asList(leaves).contains(null)) {
      return own;
    }
    gathered.remove(List.of(rank, chunk));
    return tree(leaves, 0, leaves.length);
  }

  private static Symbol tree(Symbol[] leaves, int first, int count) {
    int left = count == 1 ? 0 : AdditionOrder.left(count);
    return count == 1
        ? leaves[first]
        : combined(tree(leaves, first, left), tree(leaves, first + left, count - left));
  }

  private static Symbol combined(Symbol a, Symbol b) {
    int[] sum = new int[a.contributions.length];
    Arrays.setAll(sum, i -> a.contributions[i] + b.contributions[i]);
    return new Symbol(sum, mix(mix(a.tree) + mix(b.tree)));
  }

  private static void check(Algorithm algorithm, Goal goal, int rank, int chunk, Symbol[][] state) {
    int size = state.length;
    int[] expected = new int[size];
    switch (goal) {
      case ALLREDUCE -> Arrays.fill(expected, 1);
      case REDUCE_SCATTER -> {
        if (chunk != rank) {
          return;
        }
        Arrays.fill(expected, 1);
      }
      case ALLGATHER -> expected[chunk] = 1;
      case BROADCAST -> expected[0] = 1;
      case ALLTOALL -> {
        if (chunk % size != rank) {
          return;
        }
        expected[chunk / size] = 1;
      }
    }
    Symbol got = state[rank][chunk];
    if (!Arrays.equals(expected, got.contributions)) {
      throw wrong(
          algorithm,
          size,
          "rank "
              + rank
              + " ends with contributions "
              + Arrays.toString(got.contributions)
              + " in chunk "
              + chunk
              + ", expected "
              + Arrays.toString(expected));
    }
    if (goal == Goal.ALLREDUCE && got.tree != state[0][chunk].tree) {
      throw wrong(
          algorithm,
          size,
          "rank " + rank + " adds chunk " + chunk + " in another order than rank 0");
    }
  }

  private static IllegalStateException wrong(Algorithm algorithm, int size, String what) {
    return new IllegalStateException(algorithm.name() + " on " + size + " ranks: " + what);
  }

  private static long mix(long x) {
    long h = x * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    return h ^ (h >>> 32);
  }
}
