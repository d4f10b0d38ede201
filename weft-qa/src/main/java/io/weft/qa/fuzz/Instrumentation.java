// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The instrumentation of a class, which reports executed blocks and compared numbers to
/// `Coverage`. The numbers of the blocks depend only on the class's name and bytes.
final class Instrumentation {

  private static final ClassDesc COVERAGE = Coverage.class.describeConstable().orElseThrow();
  private static final MethodTypeDesc HIT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
  private static final MethodTypeDesc INTS =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int, ConstantDescs.CD_int);
  private static final MethodTypeDesc LONGS =
      MethodTypeDesc.of(ConstantDescs.CD_int, ConstantDescs.CD_long, ConstantDescs.CD_long);

  /// A switch with more cases does not test magic numbers.
  private static final int MAX_CASES = 32;

  private final ClassFile format;

  /// Creates an instrumentation. `classes` finds the types that stack frames merge.
  Instrumentation(ClassLoader classes) {
    format =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(classes)
                    .orElse(ClassHierarchyResolver.defaultResolver())));
  }

  byte[] apply(byte[] original) {
    ClassModel model = format.parse(original);
    Blocks blocks = new Blocks(model.thisClass().asInternalName());
    return format.transformClass(
        model,
        (type, element) -> {
          if (element instanceof MethodModel method) {
            type.transformMethod(method, method(blocks));
          } else {
            type.with(element);
          }
        });
  }

  private static MethodTransform method(Blocks blocks) {
    return (method, element) -> {
      if (element instanceof CodeModel code) {
        method.transformCode(code, new Counted(targets(code), blocks));
      } else {
        method.with(element);
      }
    };
  }

  private static Set<Label> targets(CodeModel code) {
    var targets = new HashSet<Label>();
    for (CodeElement element : code) {
      switch (element) {
        case BranchInstruction branch -> targets.add(branch.target());
        case ExceptionCatch caught -> targets.add(caught.handler());
        case LookupSwitchInstruction choice -> {
          targets.add(choice.defaultTarget());
          choice.cases().forEach(c -> targets.add(c.target()));
        }
        case TableSwitchInstruction choice -> {
          targets.add(choice.defaultTarget());
          choice.cases().forEach(c -> targets.add(c.target()));
        }
        default -> {}
      }
    }
    return targets;
  }

  /// The generator of block numbers for a class.
  private static final class Blocks {
    private int last;

    Blocks(String className) {
      last = className.hashCode();
    }

    void hit(CodeBuilder code) {
      last += 0x9E3779B9;
      int mixed = (last ^ (last >>> 15)) * 0x85EBCA6B;
      code.loadConstant(mixed ^ (mixed >>> 13)).invokestatic(COVERAGE, "hit", HIT);
    }
  }

  private record Counted(Set<Label> targets, Blocks blocks) implements CodeTransform {

    @Override
    public void atStart(CodeBuilder code) {
      blocks.hit(code);
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      switch (element) {
        case LabelTarget label -> {
          code.with(label);
          if (targets.contains(label.label())) {
            blocks.hit(code);
          }
        }
        case BranchInstruction branch -> branch(code, branch);
        case OperatorInstruction operator when operator.opcode() == Opcode.LCMP ->
            code.invokestatic(COVERAGE, "compared", LONGS);
        case LookupSwitchInstruction choice -> {
          cases(code, choice.cases());
          code.with(choice);
        }
        case TableSwitchInstruction choice -> {
          cases(code, choice.cases());
          code.with(choice);
        }
        default -> code.with(element);
      }
    }

    private void branch(CodeBuilder code, BranchInstruction branch) {
      switch (branch.opcode()) {
        case IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE ->
            code.dup2().invokestatic(COVERAGE, "compared", INTS);
        default -> {}
      }
      code.with(branch);
      if (branch.opcode() != Opcode.GOTO && branch.opcode() != Opcode.GOTO_W) {
        blocks.hit(code);
      }
    }

    private static void cases(CodeBuilder code, List<SwitchCase> cases) {
      if (cases.size() <= MAX_CASES) {
        for (SwitchCase one : cases) {
          code.dup().loadConstant(one.caseValue()).invokestatic(COVERAGE, "compared", INTS);
        }
      }
    }
  }
}
