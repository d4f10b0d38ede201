// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// MXNet's KVStore: named tensors that live on servers, with two levels of communication. The
/// workers of a host sum their pushes among themselves, in shared memory where available. The
/// lowest of them pushes the sum, pulls the values and broadcasts them. A host thus sends and
/// receives each tensor once, whatever the number of its workers. The optimizer runs on the
/// servers.
///
/// ```java
/// try (Weft weft = Weft.init();
///     KVStore kv = KVStore.open(weft, KVStoreOptions.servers(2).withOptimizer("sgd:lr=0.1"))) {
///   if (kv.serve()) {
///     return; // a server whose workers have left
///   }
///   kv.init(weights);                 // by name; the lowest worker's values count
///   for (...) {
///     kv.pull(weights);
///     kv.push(gradients(weights));
///   }
/// }
/// ```
///
/// All workers must call the same methods with the same names in the same order, from one thread
/// each. Calls block. A push blocks only until the host's sum is complete and the servers have
/// received the tensor's previous push. Errors are those of `KvTensor` and of `Communicator`.
public final class KVStore implements AutoCloseable {

  private final Weft weft;
  private final KVStoreOptions options;
  private final KvNode member;
  private final @Nullable Communicator host;
  private final @Nullable Communicator all;
  private final boolean leads;
  private final int workers;
  private final Map<String, HostTensor> tensors = new LinkedHashMap<>();
  private final Map<String, HostRows> rows = new LinkedHashMap<>();

  private KVStore(Weft weft, KVStoreOptions options, HostLayout layout) {
    this.weft = weft;
    this.options = options;
    this.workers = weft.size() - options.servers();
    this.member = KvNode.open(weft, KvOptions.servers(options.servers()), layout.leaders());
    this.host = layout.mine().isEmpty() ? null : weft.communicator(new ProcessSet(layout.mine()));
    List<Integer> every = IntStream.range(options.servers(), weft.size()).boxed().toList();
    this.all =
        layout.mine().isEmpty() || layout.mine().equals(every)
            ? host
            : weft.communicator(new ProcessSet(every));
    this.leads = layout.leaders().contains(weft.rank());
  }

  /// Returns the store of a job. All ranks must create it with the same options. Throws
  /// `IllegalArgumentException` if no rank is left to be a worker.
  public static KVStore open(Weft weft, KVStoreOptions options) {
    return new KVStore(
        weft, options, HostLayout.of(weft.topology(), weft.size(), options.servers(), weft.rank()));
  }

  /// Returns the server side, or empty on a worker.
  public Optional<KvServer> server() {
    return member.server();
  }

  /// Serves until all workers have left or are lost, if this rank is a server, and returns true.
  /// Returns false at once on a worker. See `KvNode.serve`.
  public boolean serve() throws InterruptedException {
    return member.serve();
  }

  /// Returns the rank of this worker among the workers.
  public int rank() {
    return weft.rank() - options.servers();
  }

  /// Returns the number of workers on all hosts.
  public int workers() {
    return workers;
  }

  /// Creates named FLOAT32 tensors with the lowest worker's values as their first values. Waits
  /// until the servers have them. If the workers have different options, names or lengths, throws
  /// `CommException.Mismatch` on all workers before any change, with the values of two ranks.
  /// Throws `IllegalStateException` if a name is in use.
  public void init(Map<String, TensorView> values) throws InterruptedException {
    SortedMap<String, String> lengths = optionsInWords();
    values.forEach(
        (name, view) ->
            lengths.put("'" + name + "'", view.dtype() + "[" + view.shape().elements() + "]"));
    SameOnWorkers.require(all(), "init of the store", lengths);
    for (Map.Entry<String, TensorView> each : inOrder(values)) {
      String name = each.getKey();
      if (tensors.containsKey(name) || rows.containsKey(name)) {
        throw new IllegalStateException("'" + name + "' has first values already");
      }
      long elements = each.getValue().shape().elements();
      KvTensor servers = null;
      if (leads) {
        servers =
            member
                .worker()
                .registerTensor(
                    TableSpec.tensor(name, elements)
                        .withRule(options.optimizer())
                        .with(options.consistency()));
      }
      var tensor = new HostTensor(weft, elements, options.compression(), servers);
      tensors.put(name, tensor);
      tensor.check(name, each.getValue());
      if (servers != null) {
        var unused = servers.init(each.getValue().data()).await();
      }
    }
    barrier();
  }

  /// Pushes the gradients of tensors. The gradients of all workers of a host are summed and sent to
  /// the servers as one push.
  public void push(Map<String, TensorView> gradients) throws InterruptedException {
    List<AllreduceRequest> sums = new ArrayList<>();
    for (Map.Entry<String, TensorView> each : inOrder(gradients)) {
      HostTensor tensor = tensor(each.getKey());
      tensor.check(each.getKey(), each.getValue());
      TensorView into = tensor.sum(host());
      sums.add(
          new AllreduceRequest(
              new TensorView(DType.FLOAT32, into.shape(), each.getValue().data()),
              into,
              ReduceOp.SUM,
              WireHook.NONE,
              CollectiveOptions.named("kvstore/push/" + each.getKey())));
    }
    var unused = host().allreduceAll(sums).await();
    for (Map.Entry<String, TensorView> each : inOrder(gradients)) {
      tensor(each.getKey()).push();
    }
  }

  /// Pulls tensors. Their values include this host's pushes.
  public void pull(Map<String, TensorView> into) throws InterruptedException {
    for (Map.Entry<String, TensorView> each : inOrder(into)) {
      tensor(each.getKey()).check(each.getKey(), each.getValue());
    }
    pullFromServers(into);
    List<Handle<TensorView>> given = new ArrayList<>();
    for (Map.Entry<String, TensorView> each : inOrder(into)) {
      given.add(
          host()
              .broadcast(
                  each.getValue(), 0, CollectiveOptions.named("kvstore/pull/" + each.getKey())));
    }
    for (Handle<TensorView> each : given) {
      var unused = each.await();
    }
  }

  private void pullFromServers(Map<String, TensorView> into) throws InterruptedException {
    List<Handle<Void>> pulls = new ArrayList<>();
    try {
      for (Map.Entry<String, TensorView> each : inOrder(into)) {
        tensor(each.getKey()).pull(each.getValue()).ifPresent(pulls::add);
      }
      for (Handle<Void> each : pulls) {
        var unused = each.await();
      }
    } catch (RuntimeException failed) {
      host().abort(cause(String.join(", ", into.keySet()), failed));
      throw failed;
    }
  }

  /// Returns the error with which the host's other workers are aborted when this worker cannot
  /// pull.
  static CommException cause(String names, RuntimeException failed) {
    return failed instanceof CommException known
        ? known
        : new CommException.Aborted("pull of " + names + ": " + failed.getMessage(), failed);
  }

  /// Creates a table of rows of `width` floats, for row-sparse pushes and pulls. Throws `Mismatch`
  /// as `init` does.
  ///
  /// @param initial the values of a row that no worker has pushed, such as `zero`
  public void initRows(String name, int width, String initial) throws InterruptedException {
    SortedMap<String, String> words = optionsInWords();
    words.put("'" + name + "'", "rows of " + width + " floats that begin with " + initial);
    SameOnWorkers.require(all(), "initRows of the store", words);
    if (tensors.containsKey(name) || rows.containsKey(name)) {
      throw new IllegalStateException("'" + name + "' is there already");
    }
    KvTable servers =
        leads
            ? member
                .worker()
                .register(
                    TableSpec.rows(name, width)
                        .withRule(options.optimizer())
                        .withInitial(initial, 0)
                        .with(options.consistency()))
            : null;
    rows.put(name, new HostRows(weft, name, width, host(), servers));
    barrier();
  }

  /// Pushes this worker's rows, possibly none. Rows of the same id are summed over the workers of
  /// the host.
  ///
  /// @param values row after row
  public void pushRows(String name, long[] ids, float[] values) throws InterruptedException {
    rows(name).push(ids, values);
  }

  /// Pulls this worker's rows, possibly none, in any order and with repetitions.
  public void pullRows(String name, long[] ids, float[] into) throws InterruptedException {
    rows(name).pull(ids, into);
  }

  /// Waits until all workers of all hosts have called it and the servers have received their
  /// pushes.
  public void barrier() throws InterruptedException {
    for (HostTensor each : tensors.values()) {
      var unused = each.sum(host());
    }
    for (HostRows each : rows.values()) {
      each.flush();
    }
    var unusedBefore = host().barrier(CollectiveOptions.named("kvstore/barrier")).await();
    if (leads) {
      member.worker().barrier();
    }
    var unusedAfter = host().barrier(CollectiveOptions.named("kvstore/barrier")).await();
  }

  private static List<Map.Entry<String, TensorView>> inOrder(Map<String, TensorView> tensors) {
    return tensors.entrySet().stream().sorted(Map.Entry.comparingByKey()).toList();
  }

  private HostTensor tensor(String name) {
    HostTensor found = tensors.get(name);
    if (found == null) {
      throw new IllegalStateException("no tensor '" + name + "'; init gives it its first values");
    }
    return found;
  }

  private HostRows rows(String name) {
    HostRows found = rows.get(name);
    if (found == null) {
      throw new IllegalStateException("no rows '" + name + "'; initRows makes them");
    }
    return found;
  }

  private SortedMap<String, String> optionsInWords() {
    var words = new TreeMap<String, String>();
    words.put("the consistency", options.consistency().toString());
    words.put("the optimizer", options.optimizer());
    words.put("the compression", options.compression());
    return words;
  }

  private Communicator all() {
    var unused = host(); // refuses a server
    return Objects.requireNonNull(all);
  }

  private Communicator host() {
    if (host == null) {
      throw new IllegalStateException("this rank is a server: only workers push and pull");
    }
    return host;
  }

  /// Stops the server's threads, if any. Does not wait for this worker's pushes.
  @Override
  public void close() {
    member.close();
    tensors.values().forEach(HostTensor::close);
    rows.values().forEach(HostRows::close);
  }
}
