// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvCall;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvChanges;
import io.weft.kv.function.KvFunction;
import io.weft.kv.function.KvFunctions;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/// The functions and changes that a server knows, by name. Any thread.
public final class ShardFunctions {

  private final Map<String, KvFunction<?>> functions;
  private final Map<String, KvChange> changes;

  /// Creates the set of the built-in functions and changes and of these. Throws
  /// `IllegalArgumentException` if two have the same name.
  public ShardFunctions(List<KvFunction<?>> ownFunctions, List<KvChange> ownChanges) {
    functions = byName("functions", KvFunctions.all(), ownFunctions, KvFunction::name);
    changes = byName("changes", KvChanges.all(), ownChanges, KvChange::name);
  }

  private static <F> Map<String, F> byName(
      String kind,
      Collection<? extends F> all,
      Collection<? extends F> own,
      Function<F, String> name) {
    Map<String, F> byName = new HashMap<>();
    Stream.concat(all.stream(), own.stream())
        .forEach(
            each -> {
              if (byName.put(name.apply(each), each) != null) {
                throw new IllegalArgumentException(
                    "two "
                        + kind
                        + " have the name '"
                        + name.apply(each)
                        + "'; give one of them another");
              }
            });
    return Map.copyOf(byName);
  }

  /// Runs a function. Throws `Refusal` with the reason if the function is unknown or fails.
  MemorySegment call(KvCall call, ShardView view) throws Refusal {
    KvFunction<?> function = find("function", call, functions, "withFunction");
    byte[] result;
    try {
      result = function.run(view, call.argument());
    } catch (RuntimeException failed) {
      throw new Refusal("function '" + call.name() + "' failed: " + failed.getMessage());
    }
    if (result.length > KvFunction.MOST_BYTES) {
      throw new Refusal(
          "function '%s' has a result of %d bytes; at most %d"
              .formatted(call.name(), result.length, KvFunction.MOST_BYTES));
    }
    return MemorySegment.ofArray(result);
  }

  /// Returns the change of a call. Throws `Refusal` if its name is unknown.
  KvChange change(KvCall call) throws Refusal {
    return find("change", call, changes, "withChange");
  }

  private static <F> F find(String kind, KvCall call, Map<String, F> known, String method)
      throws Refusal {
    F found = known.get(call.name());
    if (found == null) {
      throw new Refusal(
          "unknown %s '%s'; servers know %s; KvOptions.%s adds others"
              .formatted(kind, call.name(), known.keySet().stream().sorted().toList(), method));
    }
    return found;
  }
}
