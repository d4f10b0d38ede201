// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.arguments;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.Store;
import io.weft.cluster.channel.RequestChannel;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import io.weft.gradient.GradientReducer;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.TableSpec;
import io.weft.rendezvous.Rendezvous;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that every public method and constructor of the exported packages refuses `null` for each
/// parameter that is not `@Nullable`, at the call and on the caller's thread, and that the job
/// still works afterwards.
@Timeout(120)
class NullArgumentsTest {

  private static final long CALL_SECONDS = 5;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// One class of each module that programs call.
  private static final List<Class<?>> OF_MODULES =
      List.of(Weft.class, DataParallel.class, KvNode.class, LocalJob.class);

  /// The parts of a rank's start, end and progress thread, and the classes that change the machine
  /// when they are created or called. No program calls them.
  private static final Set<String> LEFT_OUT =
      Set.of(
          "AddressClaim",
          "Bootstrap",
          "BusyCarriers",
          "FlightPost",
          "FlightWriter",
          "ForwardingEndpoint",
          "ForwardingSink",
          "ForwardingTransport",
          "JobDirectory",
          "JobStore",
          "JoinClaim",
          "Membership",
          "Mesh",
          "MeshChannel",
          "Networks",
          "Observers",
          "ProgressThreads",
          "TcpStore",
          "TcpStoreServer",
          "UserMemory");

  private final Samples samples;
  private int calls;

  NullArgumentsTest(@TempDir Path directory) {
    samples = new Samples(directory);
  }

  private static List<Class<?>> exported(Class<?> ofModule) throws Exception {
    URI location = ofModule.getProtectionDomain().getCodeSource().getLocation().toURI();
    Path at = Path.of(location);
    if (Files.isDirectory(at)) {
      return exported(at);
    }
    try (FileSystem jar = FileSystems.newFileSystem(at)) {
      return exported(jar.getPath("/"));
    }
  }

  private static List<Class<?>> exported(Path root) throws Exception {
    Path descriptor = root.resolve("module-info.class");
    Set<String> packages = new TreeSet<>();
    if (Files.exists(descriptor)) {
      try (InputStream in = Files.newInputStream(descriptor)) {
        ModuleDescriptor.read(in).exports().stream()
            .filter(exports -> !exports.isQualified())
            .forEach(exports -> packages.add(exports.source()));
      }
    }
    List<Class<?>> types = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted().toList()) {
        String name = root.relativize(file).toString().replace('/', '.');
        if (name.endsWith(".class") && !name.endsWith("-info.class")) {
          Class<?> type =
              Class.forName(
                  name.substring(0, name.length() - ".class".length()),
                  false,
                  NullArgumentsTest.class.getClassLoader());
          if (isPublic(type)
              && !LEFT_OUT.contains(type.getSimpleName())
              && (packages.isEmpty() || packages.contains(type.getPackageName()))) {
            types.add(type);
          }
        }
      }
    }
    return types;
  }

  private static boolean isPublic(Class<?> type) {
    for (Class<?> each = type; each != null; each = each.getEnclosingClass()) {
      if (!Modifier.isPublic(each.getModifiers())) {
        return false;
      }
    }
    return !type.isAnnotation();
  }

  @Test
  void nullIsRefusedAtTheCallAndNothingChanges() throws Exception {
    WeftConfig config =
        WeftConfig.builder().transport("inproc").deadline(Duration.ofMinutes(1)).build();
    try (LocalJob job = LocalJob.start(3, config)) {
      var unused = job.run(weft -> weft.rank() == 1 ? callAll(weft, job) : onlyUse(weft));
      assertThat(calls).as("calls with null").isGreaterThan(600);
    }
  }

  /// Runs a rank that is not called with null: server 0, or a second worker.
  private static boolean onlyUse(Weft weft) throws Exception {
    try (KvNode kv = KvNode.open(weft, KvOptions.servers(1));
        DataParallel parallel = parallel(weft)) {
      Reducer reducer = parallel.reducer(weft.communicator());
      Optional<KvTable> table =
          kv.server().isPresent() ? Optional.empty() : Optional.of(table(kv.worker()));
      use(weft, reducer, table);
      var barrier = weft.communicator().barrier(named("never-met"));
      assertThat(barrier).isNotNull();
      var unused = reducer.reduce("never", weft.allocate(DType.FLOAT32, Shape.of(4)).view());
      use(weft, reducer, table);
      end(weft);
    }
    return true;
  }

  private static KvTable table(KvWorker worker) throws InterruptedException {
    return worker.register(TableSpec.rows("rows", 4).withRule("assign"));
  }

  /// Checks that all services of the job still work.
  private static void use(Weft weft, Reducer reducer, Optional<KvTable> table) throws Exception {
    try (TensorLease lease = weft.allocate(DType.FLOAT32, Shape.of(4))) {
      TensorView tensor = lease.view();
      tensor.data().fill((byte) 0);
      TensorView sum =
          weft.communicator().allreduce(tensor, tensor, ReduceOp.SUM, named("whole")).await(LIMIT);
      assertThat(sum.bytes()).isEqualTo(16);
      assertThat(reducer.reduce("gradient", tensor).await(LIMIT)).isNotNull();
      if (table.isPresent()) {
        var unused = table.get().push(new long[] {1}, new float[4]).await(LIMIT);
      }
      weft.store().put("null-arguments/" + weft.rank(), new byte[] {1});
    }
  }

  /// Creates the object at one place of the program, because the ranks must agree on it.
  private static DataParallel parallel(Weft weft) {
    return DataParallel.open(weft);
  }

  /// Meets the other ranks, so that no rank closes objects that another one still uses.
  private static void end(Weft weft) throws InterruptedException {
    var unused = weft.communicator().barrier(named("end")).await(LIMIT);
  }

  private boolean callAll(Weft weft, LocalJob job) throws Exception {
    try (KvNode kv = KvNode.open(weft, KvOptions.servers(1));
        DataParallel parallel = parallel(weft);
        TensorLease lease = weft.allocate(DType.FLOAT32, Shape.of(4))) {
      KvTable table = table(kv.worker());
      Reducer reducer = parallel.reducer(weft.communicator());
      use(weft, reducer, Optional.of(table));
      samples.give(Weft.class, weft);
      samples.give(WeftConfig.class, weft.config());
      samples.give(LocalJob.class, job);
      samples.give(Communicator.class, weft.communicator());
      samples.give(RequestChannel.class, weft.channel());
      samples.give(Rendezvous.class, weft.rendezvous());
      samples.give(Store.class, weft.store());
      samples.give(TensorLease.class, lease);
      samples.give(TensorView.class, lease.view());
      samples.give(DataParallel.class, parallel);
      samples.give(GradientReducer.class, reducer);
      samples.give(Reducer.class, reducer);
      samples.give(KvNode.class, kv);
      samples.give(KvWorker.class, kv.worker());
      samples.give(KvTable.class, table);
      Set<String> taken = new TreeSet<>();
      for (Class<?> ofModule : OF_MODULES) {
        for (Class<?> type : exported(ofModule)) {
          callAllOf(type, taken);
        }
      }
      List<Handle<?>> handles =
          List.of(
              weft.communicator().barrier(named("never-met")),
              reducer.reduce("never", lease.view()),
              table.pull(new long[] {1}, new float[4]));
      for (Handle<?> handle : handles) {
        samples.give(Handle.class, handle);
        callAllOf(Handle.class, taken);
      }
      assertThat(taken)
          .as("of %d calls with null those that took it, or did something else", calls)
          .isEmpty();
      use(weft, reducer, Optional.of(table));
      end(weft);
    } finally {
      samples.close();
    }
    return true;
  }

  private void callAllOf(Class<?> type, Set<String> taken) {
    for (Constructor<?> constructor : type.getConstructors()) {
      callWithNulls(constructor, null, taken);
    }
    Optional<Object> receiver = samples.of(type).filter(made -> !Samples.isIdle(made));
    for (Method method : type.getDeclaredMethods()) {
      boolean isStatic = Modifier.isStatic(method.getModifiers());
      if (Modifier.isPublic(method.getModifiers())
          && !method.isSynthetic()
          && !method.getName().equals("equals")
          && (isStatic || receiver.isPresent())) {
        callWithNulls(method, isStatic ? null : receiver.get(), taken);
      }
    }
  }

  private void callWithNulls(Executable executable, @Nullable Object on, Set<String> taken) {
    if (Modifier.isAbstract(executable.getDeclaringClass().getModifiers())
        && executable instanceof Constructor) {
      return;
    }
    Optional<@Nullable Object[]> arguments = samples.arguments(executable);
    if (arguments.isEmpty()) {
      return;
    }
    Parameter[] parameters = executable.getParameters();
    for (int i = 0; i < parameters.length; i++) {
      if (!mayBeNull(parameters[i])) {
        @Nullable Object[] with = arguments.get().clone();
        with[i] = null;
        calls++;
        outcome(executable, on, with)
            .ifPresent(
                what ->
                    taken.add(
                        executable.getDeclaringClass().getName()
                            + "."
                            + (executable instanceof Method ? executable.getName() : "new")
                            + Arrays.stream(parameters)
                                .map(each -> each.getType().getSimpleName())
                                .collect(Collectors.joining(", ", "(", ")"))
                            + ", argument "
                            + what));
      }
    }
  }

  private static boolean mayBeNull(Parameter parameter) {
    return parameter.getType().isPrimitive()
        || parameter.getAnnotatedType().isAnnotationPresent(Nullable.class)
        || parameter.getAnnotatedType() instanceof AnnotatedTypeVariable;
  }

  /// Returns an empty value if the call was refused, else a description of its outcome.
  private static Optional<String> outcome(
      Executable executable, @Nullable Object on, @Nullable Object[] arguments) {
    FutureTask<@Nullable Object> call =
        new FutureTask<>(
            () ->
                executable instanceof Method method
                    ? method.invoke(on, arguments)
                    : ((Constructor<?>) executable).newInstance(arguments));
    Thread thread = Thread.ofPlatform().daemon().start(call);
    String at = Arrays.asList(arguments).indexOf(null) + ": ";
    try {
      var unused = call.get(CALL_SECONDS, TimeUnit.SECONDS);
      return Optional.of(at + "taken");
    } catch (ExecutionException thrown) {
      Throwable cause = thrown.getCause();
      Throwable what = cause instanceof InvocationTargetException ? cause.getCause() : cause;
      return what instanceof NullPointerException || what instanceof IllegalArgumentException
          ? Optional.empty()
          : Optional.of(at + what);
    } catch (TimeoutException blocked) {
      thread.interrupt();
      return Optional.of(at + "blocks");
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
