// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A check that all ranks have the same options. The first rank writes its options into the job's
/// store.
final class KvOptionsCheck {

  private static final Logger LOG = LoggerFactory.getLogger(KvOptionsCheck.class);

  private KvOptionsCheck() {}

  /// Throws `CommException.Setup` with both texts if this rank's options differ from those in the
  /// store.
  static void check(Weft weft, Layout layout, KvOptions options) {
    String mine = text(layout, options);
    String found;
    try {
      found = written(weft.store(), options.application(), mine, weft.rank());
    } catch (CommException.Setup unreachable) {
      LOG.warn(
          "rank {}: the options of the parameter server on the other ranks are not known:" + " {}",
          weft.rank(),
          unreachable.getMessage());
      return;
    } finally {
      weft.store().disconnect(); // or the store keeps an idle connection of each rank
    }
    int colon = found.indexOf(':');
    if (!found.substring(colon + 1).equals(mine)) {
      throw new CommException.Setup(
          "application %d of the parameter server has on rank %d [%s], on %s [%s]; give KvNode.open the same on all ranks"
              .formatted(
                  options.application(),
                  weft.rank(),
                  mine,
                  found.substring(0, colon),
                  found.substring(colon + 1)),
          List.of(weft.rank()),
          null);
    }
  }

  private static String written(Store store, int application, String mine, int rank) {
    String key = "kv/" + application + "/options";
    String value = "rank " + rank + ":" + mine;
    return store.putIfAbsent(key, value.getBytes(StandardCharsets.UTF_8))
        ? value
        : store.find(key).map(bytes -> new String(bytes, StandardCharsets.UTF_8)).orElse(value);
  }

  private static String text(Layout layout, KvOptions options) {
    return "servers %s, workers %s, mirrors %s, %d shards, functions %s"
        .formatted(
            ProcessSet.ranges(layout.servers()),
            ProcessSet.ranges(layout.workers()),
            options.mirrors(),
            layout.shards(),
            Stream.concat(
                    options.functions().stream().map(KvFunction::name),
                    options.changes().stream().map(KvChange::name))
                .sorted()
                .toList());
  }
}
