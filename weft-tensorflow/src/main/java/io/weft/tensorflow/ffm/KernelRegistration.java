// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/// CPU kernels written in Java: one set of function pointers per op type, registered once for all
/// element types or once per element type. Never freed, because TensorFlow's registry keeps them.
public final class KernelRegistration {

  // TF_KernelBuilder* TF_NewAsyncKernelBuilder(const char* op_name, const char* device_name,
  //     void* (*create_func)(TF_OpKernelConstruction*),
  //     void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
  //     void (*delete_func)(void*));
  private static final MethodHandle NEW =
      FrameworkLibrary.function(
          "TF_NewAsyncKernelBuilder",
          FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  // void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder*, const char* attr_name,
  //     const TF_DataType type, TF_Status* status);
  private static final MethodHandle CONSTRAIN =
      FrameworkLibrary.function(
          "TF_KernelBuilder_TypeConstraint",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, JAVA_INT, JAVA_LONG));
  // void TF_RegisterKernelBuilder(const char* kernel_name, TF_KernelBuilder* builder,
  //     TF_Status* status); takes the builder
  private static final MethodHandle REGISTER =
      FrameworkLibrary.function(
          "TF_RegisterKernelBuilder", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG));

  private static final FunctionDescriptor CREATE = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG);
  private static final FunctionDescriptor COMPUTE =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final FunctionDescriptor DELETE = FunctionDescriptor.ofVoid(JAVA_LONG);

  private final String op;
  private final MemorySegment create;
  private final MemorySegment compute;
  private final MemorySegment delete;

  /// Creates the function pointers for the kernels of the op type `op`.
  public KernelRegistration(String op, KernelCallbacks callbacks) {
    this.op = op;
    Guarded guarded = new Guarded(callbacks);
    create = guarded.stub("create", CREATE);
    compute = guarded.stub("compute", COMPUTE);
    delete = guarded.stub("delete", DELETE);
  }

  /// Registers the kernels for this `TF_DataType` of attribute `T`. A second registration in one
  /// process makes every use of the op fail.
  public void register(int dataType) {
    try (Arena arena = Arena.ofConfined();
        Status status = new Status()) {
      long builder = builder(arena);
      CONSTRAIN.invokeExact(builder, arena.allocateFrom("T"), dataType, status.address());
      status.check("constraining the kernel of " + op + " to type " + dataType);
      register(builder, op + "_" + dataType, status);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RegisterKernelBuilder", t);
    }
  }

  /// Registers the kernels for all types of the op's definition, instead of `register` for each.
  public void registerForAllTypes() {
    try (Arena arena = Arena.ofConfined();
        Status status = new Status()) {
      register(builder(arena), op, status);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RegisterKernelBuilder", t);
    }
  }

  private long builder(Arena arena) throws Throwable {
    return (long)
        NEW.invokeExact(arena.allocateFrom(op), arena.allocateFrom("CPU"), create, compute, delete);
  }

  private static void register(long builder, String name, Status status) throws Throwable {
    // TensorFlow may keep the pointer without copying the characters.
    MemorySegment kept = Arena.global().allocateFrom(name);
    REGISTER.invokeExact(kept, builder, status.address());
    status.check("registering the kernel " + name);
  }

  /// Callbacks that catch exceptions, which would otherwise end the JVM.
  private record Guarded(KernelCallbacks target) implements KernelCallbacks {

    MemorySegment stub(String method, FunctionDescriptor signature) {
      try {
        MethodHandle handle = MethodHandles.lookup().bind(this, method, signature.toMethodType());
        return Upcalls.stub(handle, signature);
      } catch (ReflectiveOperationException e) {
        throw FrameworkLibrary.broken("upcall " + method, e);
      }
    }

    @Override
    public long create(long construction) {
      try {
        return target.create(construction);
      } catch (Throwable t) {
        Upcalls.escaped("create", t);
        return 0;
      }
    }

    @Override
    public void compute(long kernel, long context, long done) {
      try {
        target.compute(kernel, context, done);
      } catch (Throwable t) {
        Upcalls.escaped("compute", t);
      }
    }

    @Override
    public void delete(long kernel) {
      try {
        target.delete(kernel);
      } catch (Throwable t) {
        Upcalls.escaped("delete", t);
      }
    }
  }
}
