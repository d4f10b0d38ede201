// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/// A borrowed `TF_OpKernelConstruction`: the attributes of the node whose kernel is being created.
/// Valid during the create call, on its thread.
///
/// @param address the pointer
/// @param status borrowed, for the results of the calls
public record KernelConstruction(long address, Status status) {

  // void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx, const char* attr_name,
  //     int32_t* list_size, int32_t* total_size, TF_Status* status);
  private static final MethodHandle SIZE =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrSize",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx, const char* attr_name,
  //     char* val, size_t max_length, TF_Status* status);
  private static final MethodHandle STRING =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrString",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx,
  //     const char* attr_name, char** vals, size_t* lengths, int max_values, void* storage,
  //     size_t storage_size, TF_Status* status);
  private static final MethodHandle STRINGS =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrStringList",
          FunctionDescriptor.ofVoid(
              JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx, const char* attr_name,
  //     int64_t* val, TF_Status* status);
  private static final MethodHandle INT64 =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrInt64",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
  //     const char* attr_name, int64_t* vals, int max_vals, TF_Status* status);
  private static final MethodHandle INT64S =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrInt64List",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx, const char* attr_name,
  //     TF_DataType* val, TF_Status* status);
  private static final MethodHandle TYPE =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrType",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
  // void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
  //     const char* attr_name, TF_DataType* vals, int max_vals, TF_Status* status);
  private static final MethodHandle TYPES =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_GetAttrTypeList",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG));
  // void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx, TF_Status* status);
  private static final MethodHandle FAILURE =
      FrameworkLibrary.function(
          "TF_OpKernelConstruction_Failure", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  /// The number of values of a list attribute, and the total number of bytes of text.
  private record Size(int count, int bytes) {}

  private Size size(Arena arena, MemorySegment name, String attribute) throws Throwable {
    MemorySegment count = arena.allocate(JAVA_INT);
    MemorySegment bytes = arena.allocate(JAVA_INT);
    SIZE.invokeExact(address, name, count, bytes, status.address());
    status.check("reading the length of attribute " + attribute);
    return new Size(count.get(JAVA_INT, 0), bytes.get(JAVA_INT, 0));
  }

  /// Returns the string attribute of this name. Throws `IllegalStateException` if it does not
  /// exist.
  public String string(String attribute) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(attribute);
      int bytes = size(arena, name, attribute).bytes();
      MemorySegment value = arena.allocate(bytes + 1L);
      STRING.invokeExact(address, name, value, (long) bytes, status.address());
      status.check("reading attribute " + attribute);
      return new String(value.asSlice(0, bytes).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrString", t);
    }
  }

  /// Returns the string-list attribute of this name. Throws `IllegalStateException` if it does not
  /// exist.
  public List<String> strings(String attribute) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(attribute);
      Size size = size(arena, name, attribute);
      int many = size.count();
      MemorySegment pointers = arena.allocate(JAVA_LONG, Math.max(1, many));
      MemorySegment lengths = arena.allocate(JAVA_LONG, Math.max(1, many));
      MemorySegment text = arena.allocate(size.bytes() + 1L);
      STRINGS.invokeExact(
          address, name, pointers, lengths, many, text, text.byteSize(), status.address());
      status.check("reading attribute " + attribute);
      List<String> strings = new ArrayList<>(many);
      long from = 0;
      for (int i = 0; i < many; i++) { // the strings are contiguous
        long bytes = lengths.getAtIndex(JAVA_LONG, i);
        strings.add(
            new String(text.asSlice(from, bytes).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
        from += bytes;
      }
      return strings;
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrStringList", t);
    }
  }

  /// Returns the integer attribute of this name. Throws `IllegalStateException` if it does not
  /// exist.
  public long integer(String attribute) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_LONG);
      INT64.invokeExact(address, arena.allocateFrom(attribute), value, status.address());
      status.check("reading attribute " + attribute);
      return value.get(JAVA_LONG, 0);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrInt64", t);
    }
  }

  /// Returns the integer-list attribute of this name. Throws `IllegalStateException` if it does not
  /// exist.
  public List<Long> integers(String attribute) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(attribute);
      int many = size(arena, name, attribute).count();
      MemorySegment values = arena.allocate(JAVA_LONG, Math.max(1, many));
      INT64S.invokeExact(address, name, values, many, status.address());
      status.check("reading attribute " + attribute);
      return LongStream.range(0, many).mapToObj(i -> values.getAtIndex(JAVA_LONG, i)).toList();
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrInt64List", t);
    }
  }

  /// Returns the `TF_DataType` of attribute `T`.
  public int dataType() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT);
      TYPE.invokeExact(address, arena.allocateFrom("T"), value, status.address());
      status.check("reading attribute T");
      return value.get(JAVA_INT, 0);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrType", t);
    }
  }

  /// Returns the `TF_DataType`s of attribute `T`, a list.
  public int[] dataTypes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom("T");
      int many = size(arena, name, "T").count();
      MemorySegment values = arena.allocate(JAVA_INT, Math.max(1, many));
      TYPES.invokeExact(address, name, values, many, status.address());
      status.check("reading attribute T");
      return values.asSlice(0, JAVA_INT.byteSize() * many).toArray(JAVA_INT);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_GetAttrTypeList", t);
    }
  }

  /// Ends the construction with an error, which `Session.run` throws.
  public void fail(StatusCode code, String message) {
    status.set(code, message);
    try {
      FAILURE.invokeExact(address, status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelConstruction_Failure", t);
    }
  }
}
