/// The backend: OpenVINO's runtime on one device. Only this file uses OpenVINO.

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <openvino/openvino.hpp>

#include "backend.hpp"
#include "element_types.hpp"

namespace opconform {
namespace {

constexpr std::size_t kLongestMessage = 400;

/// Parts of one message.
using Words = std::vector<std::string_view>;

/// The parts of a message, and the requirement that it is about.
struct Meaning {
    Words words;
    std::string requirement;
};

bool has(std::string_view message, const Words& words) {
    return std::all_of(words.begin(), words.end(), [&](auto each) { return message.find(each) != message.npos; });
}

/// OpenVINO's messages for something that it does not implement.
const std::vector<Words> not_implemented{
    {"Input image format ", " is not supported"},          // the plugin has no memory of this element type
    {"Not Implemented"},                                   // a node, or a way to execute it
    {"doesn't support ", " operation with dynamic rank"},
    {"unsupported src_prc"},                               // the plugin's vector code does not convert the type
    {"Element not supported"},                             // shape inference cannot read a constant of this type
    {"nsupported data type"},
    {"nsupported element type"},
    {"type is not supported"},
    {"has unsupported '", "' input precision"},
    {"nsupported ", " order for ", " type"},
    {"dtype is supported only for"},
};

/// What OpenVINO's messages about each operation mean. A message about a missing input does not name the input.
const std::map<std::string, std::vector<Meaning>> messages{
    {"Concat-1",
     {
         {{"out of the tensor rank range"}, "axis.range"},
         {{"Cannot parse '", "' to number"}, "axis.type"},
         {{"Argument element types are inconsistent"}, "inputs.element-type"},
         {{"Accessing out-of-range dimension"}, "inputs.positive-rank"},
         {{"!input_shapes.empty"}, "inputs.required"},
     }},
    {"Gather-8",
     {
         {{"Indices element type must be"}, "indices.element-type"},
         {{"Axis element type must be"}, "axis.element-type"},
         {{"Axis input must be scalar or have 1 element"}, "axis.shape"},
         {{"Cannot parse '", "' to number"}, "batch_dims.type"},
         {{"The batch_dims must be <= indices_rank"}, "batch_dims.range"},
         {{"must have equal or intersecting sizes until batch_dims"}, "batch_dims.equal"},
     }},
    {"GatherND-8",
     {
         {{"Data rank must be at least 1"}, "data.rank"},
         {{"Indices rank must be at least 1"}, "indices.rank"},
         {{"indices type is expected to be an integer type"}, "indices.element-type"},
         {{"Cannot parse '", "' to number"}, "batch_dims.type"},
         {{"Number of batch dimensions must not exceed"}, "batch_dims.range"},
         {{"Batch dimensions of data and indices must be the same"}, "batch_dims.broadcastable"},
     }},
    {"Pad-12",
     {
         {{"pads_begin must be an integral number"}, "pads_begin.element-type"},
         {{"pads_end must be an integral number"}, "pads_end.element-type"},
         {{"Argument for pads_begin is not 1D"}, "pads_begin.rank"},
         {{"Argument for pads_end is not 1D"}, "pads_end.rank"},
         {{"length of pads_begin mismatches"}, "pads_begin.count"},
         {{"length of pads_end mismatches"}, "pads_end.count"},
         {{"is not a member of enum ov::op::PadMode"}, "pad_mode.values"},
         {{"PadMode::REFLECT ||"}, "reflect.limit"},
         {{"PadMode::SYMMETRIC ||"}, "symmetric.limit"},
         {{"Argument element types do not match"}, "pad_value.element-type"},
         {{"Argument for padding value is not a scalar"}, "pad_value.scalar"},
         {{"Only CONSTANT pad mode is supported for element::string"}, "data.string-mode"},
     }},
    {"Reshape-1",
     {
         {{"PartialShape pattern must be an integral number"}, "shape.element-type"},
         {{"Pattern shape must have rank 1"}, "shape.rank"},
         {{"Non-'-1' output dimensions do not evenly divide"}, "shape.inferred-divides"},
     }},
    {"Slice-8",
     {
         {{"`data` input can't be a scalar"}, "data.rank"},
         {{"`start` input type must be integer"}, "start.element-type"},
         {{"`stop` input type must be integer"}, "stop.element-type"},
         {{"`step` input type must be integer"}, "step.element-type"},
         {{"`axes` input type must be integer"}, "axes.element-type"},
         {{"`start` input must be a 1D tensor"}, "start.rank"},
         {{"`stop` input must be a 1D tensor"}, "stop.rank"},
         {{"`step` input must be a 1D tensor"}, "step.rank"},
         {{"`axes` input must be a 1D tensor"}, "axes.rank"},
         {{"inputs must have compatible shapes"}, "indices.count"},
         {{"Step must be non-zero"}, "step.zero"},
         {{"out of the tensor rank range"}, "axes.range"},
         {{"values in `axes` input must be unique"}, "axes.unique"},
     }},
    {"StridedSlice-1",
     {
         {{"Begin mask must be an integral number"}, "begin.element-type"},
         {{"End mask must be an integral number"}, "end.element-type"},
         {{"Begin input must be 1D"}, "begin.rank"},
         {{"End input must be 1D"}, "end.rank"},
         {{"Strides input must be 1D"}, "stride.rank"},
         {{"Begin and end need to have same number of values"}, "indices.count"},
         {{"Input rank plus number of new axis has to be at least"}, "indices.rank"},
         {{"Stride must be non-zero"}, "stride.zero"},
         {{"Cannot parse '", "' in"}, "masks.type"},
         {{"are_mask_elem_in_range"}, "masks.values"},
         {{"At most one ellipsis is allowed"}, "ellipsis.single"},
     }},
    {"Transpose-1",
     {
         {{"Input order must have an integral number"}, "order.element-type"},
         {{"Input order must be a vector"}, "order.rank"},
         {{"Input order must have shape [n]"}, "order.length"},
     }},
    {"Split-1",
     {
         {{"out of the tensor rank range"}, "axis.range"},
         {{"'axis' input must be a scalar"}, "axis.shape"},
         {{"Axis should be a scalar"}, "axis.shape"},
         {{"Element type of 'axis' input must be integer"}, "axis.element-type"},
         {{"must be evenly divisible"}, "num_splits.divides"},
         {{"'num_splits' must be greater than zero"}, "num_splits.positive"},
         {{"Cannot parse '", "' to number"}, "num_splits.type"},
     }},
    {"VariadicSplit-1",
     {
         {{"out of the tensor rank range"}, "axis.range"},
         {{"'axis' input must be a scalar"}, "axis.shape"},
         {{"Axis should be a scalar"}, "axis.shape"},
         {{"Element type of 'axis' input must be integer"}, "axis.element-type"},
         {{"Total length of splits"}, "lengths.sum"},
         {{"in split lengths input. Should be >= -1"}, "lengths.negative"},
         {{"multiple -1 values"}, "lengths.single-remainder"},
         {{"Split lengths should be a 1-D tensor"}, "lengths.rank"},
     }},
};

/// A message on one line, without the positions in OpenVINO's source and the description of the node.
std::string shortened(const std::string& message) {
    std::istringstream lines(message);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with("Exception from ") || line.starts_with("While validating node ")) {
            continue;
        }
        if (!text.empty()) {
            text += ' ';
        }
        text += line.substr(0, line.find(" failed at "));
    }
    return text.substr(0, kLongestMessage);
}

/// The requirement that a message about an operation is about, if known.
std::optional<std::string> requirement_of(const std::string& op, const std::string& message) {
    const auto found = messages.find(op);
    for (const auto& each : found == messages.end() ? std::vector<Meaning>{} : found->second) {
        if (has(message, each.words)) {
            return each.requirement;
        }
    }
    return std::nullopt;
}

/// Throws the exception that a message of OpenVINO means.
///
/// "Not implemented" for an element type that the operation does not allow is a rejection.
[[noreturn]] void answer(const Case& asked, const std::string& stage, const std::string& message) {
    const auto matches = [&](const Words& each) { return has(message, each); };
    if (std::none_of(not_implemented.begin(), not_implemented.end(), matches)) {
        throw Rejected(stage, shortened(message), requirement_of(asked.op, message));
    }
    for (const auto& input : asked.inputs) {
        const auto& allowed = input.allowed_types;
        if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), input.element_type) == allowed.end()) {
            throw Rejected(stage, shortened(message), input.word + ".element-type");
        }
    }
    throw Unsupported(shortened(message));
}

/// The result of `action`. An exception of OpenVINO is its answer to the case, except for a lack of memory and misuse
/// of a library, which are failures of the harness.
template <typename Action>
auto asking(const Case& asked, const std::string& stage, Action action) {
    try {
        return action();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::logic_error&) {
        throw;
    } catch (const std::exception& fault) {
        answer(asked, stage, fault.what());
    }
}

/// How many elements OpenVINO stores in a byte, the first in the lowest bits.
std::size_t elements_a_byte(const ElementType& type) {
    if (type.bits >= 8) {
        return 1;
    }
    if (type.bits != 2 && type.bits != 4) {
        throw Unsupported("this harness does not know how OpenVINO packs " + type.name);
    }
    return 8 / type.bits;
}

void pack(const Tensor& tensor, const ElementType& type, std::uint8_t* packed, std::size_t size) {
    const auto count = elements_a_byte(type);
    if (count == 1) {
        std::copy(tensor.bytes.begin(), tensor.bytes.end(), packed);
        return;
    }
    std::fill_n(packed, size, 0);
    for (std::size_t each = 0; each < tensor.bytes.size(); ++each) {
        packed[each / count] |= tensor.bytes[each] << each % count * type.bits;
    }
}

std::vector<std::uint8_t> unpacked(const std::uint8_t* packed, std::size_t size, std::size_t elements,
                                   const ElementType& type) {
    const auto count = elements_a_byte(type);
    if (count == 1) {
        return {packed, packed + size};
    }
    std::vector<std::uint8_t> bytes(elements);
    for (std::size_t each = 0; each < elements; ++each) {
        bytes[each] = packed[each / count] >> each % count * type.bits & ((1 << type.bits) - 1);
    }
    return bytes;
}

ov::Tensor given(const Tensor& tensor) {
    ov::Tensor result(ov::element::Type(tensor.element_type), ov::Shape(tensor.shape));
    if (tensor.element_type == "string") {
        std::copy(tensor.texts.begin(), tensor.texts.end(), result.data<std::string>());
    } else {
        pack(tensor, element_type_of(tensor.element_type), static_cast<std::uint8_t*>(result.data()),
             result.get_byte_size());
    }
    return result;
}

Tensor returned(ov::Tensor tensor) {
    if (!tensor.is_continuous()) {
        ov::Tensor copy(tensor.get_element_type(), tensor.get_shape());
        tensor.copy_to(copy);
        tensor = copy;
    }
    Tensor result{tensor.get_element_type().to_string(), tensor.get_shape(), {}, {}};
    if (result.element_type == "string") {
        const auto* texts = tensor.data<std::string>();
        result.texts.assign(texts, texts + tensor.get_size());
    } else {
        result.bytes = unpacked(static_cast<const std::uint8_t*>(tensor.data()), tensor.get_byte_size(),
                                tensor.get_size(), element_type_of(result.element_type));
    }
    return result;
}

/// The devices that a name such as `HETERO:GPU,CPU` allows; empty if any may execute, as for `AUTO`.
std::vector<std::string> allowed_by(const std::string& device) {
    const auto colon = device.find(':');
    const auto base = device.substr(0, colon);
    if (base != "AUTO" && base != "HETERO" && base != "MULTI" && base != "BATCH") {
        return {device};
    }
    std::vector<std::string> allowed;
    std::istringstream members(colon == device.npos ? "" : device.substr(colon + 1));
    for (std::string each; std::getline(members, each, ',');) {
        if (!each.starts_with('-')) {
            allowed.push_back(each.substr(0, each.find('(')));
        }
    }
    return allowed;
}

/// Whether a version, as in 2026.4.1, is older than another.
bool is_before(const std::string& version, int year, int release) {
    int known_year = 0, known_release = 0;
    char dot = '.';
    std::istringstream(version) >> known_year >> dot >> known_release;
    return std::pair(known_year, known_release) < std::pair(year, release);
}

class OpenVINO : public Backend {
public:
    explicit OpenVINO(const std::string& device) : device_(device.empty() ? "CPU" : device) {
        try {
            core_.get_property(device_.substr(0, device_.find(':')), ov::supported_properties);
        } catch (const ov::Exception& fault) {
            throw std::runtime_error("The device " + device_ + " cannot be used: " + shortened(fault.what()));
        }
    }

    Implementation describe() const override {
        return {.name = "openvino",
                .version = version(),
                .device = device_,
                .hardware = "",
                .driver = driver(),
                .dialects = {"openvino"},
                // The CPU plugin has no memory for u1, u3 and u6.
                .element_types = {"boolean", "bf16", "f16", "f32", "f64", "f4e2m1", "f8e4m3", "f8e5m2",
                                  "f8e8m0",  "i4",   "i8",  "i16", "i32", "i64",    "u2",     "u4",
                                  "u8",      "u16",  "u32", "u64", "nf4", "string"},
                .operations = {},  // all that the dialect can express
                .dynamic = true,
                .bindings = {"constant", "parameter"},
                .packs = 64};
    }

    PlacedOutputs run(const Case& asked, const std::filesystem::path& model,
                      const std::vector<Inputs>& feeds) override {
        check_packing(asked);
        auto request = asking(asked, "build", [&] {
            return core_.compile_model(core_.read_model(model.string()), device_).create_infer_request();
        });
        PlacedOutputs result;
        for (const auto& feed : feeds) {
            result.feeds.push_back(inferred(asked, request, feed));
            note_placement(request.get_compiled_model(), result.placement);
        }
        return result;
    }

private:
    static std::string version() {
        const std::string build = ov::get_openvino_version().buildNumber;
        return build.substr(0, build.find('-'));
    }

    std::string driver() const {
        std::string plugins;
        for (const auto& [name, plugin] : core_.get_versions(device_)) {
            plugins += (plugins.empty() ? "" : ", ") + std::string(plugin.description) + ' ' + plugin.buildNumber;
        }
        return plugins;
    }

    /// Throws if this version of OpenVINO does not read the constants of a suite's model as they are packed.
    static void check_packing(const Case& asked) {
        for (const auto& input : asked.inputs) {
            const auto& type = input.element_type;
            if ((type == "u2" && is_before(version(), 2025, 3)) ||
                ((type == "u3" || type == "u6") && !is_before(version(), 2026, 5))) {
                throw Unsupported("this harness does not know how OpenVINO " + version() + " packs " + type);
            }
        }
    }

    /// Records the devices that executed a model, which AUTO may change between inferences.
    void note_placement(const ov::CompiledModel& compiled, Placement& placement) const {
        const auto allowed = allowed_by(device_);
        const auto supported = compiled.get_property(ov::supported_properties);
        const auto has = [&](const std::string& name) {
            return std::find(supported.begin(), supported.end(), name) != supported.end();
        };
        if (has(ov::execution_devices.name())) {
            for (auto device : compiled.get_property(ov::execution_devices)) {
                std::erase_if(device, [](char each) { return each == '(' || each == ')'; });
                const auto covers = [&](const std::string& each) {
                    return device == each || device.starts_with(each + '.');
                };
                if (!allowed.empty() && std::none_of(allowed.begin(), allowed.end(), covers)) {
                    throw Unsupported("OpenVINO executed the case on " + device + ", not on " + device_);
                }
                if (std::find(placement.devices.begin(), placement.devices.end(), device) == placement.devices.end()) {
                    placement.devices.push_back(device);
                }
            }
        }
        if (has(ov::inference_num_threads.name()) && compiled.get_property(ov::inference_num_threads) > 0) {
            placement.threads = compiled.get_property(ov::inference_num_threads);
        }
    }

    static Outputs inferred(const Case& asked, ov::InferRequest& request, const Inputs& feed) {
        const auto model = request.get_compiled_model();
        std::vector<ov::Tensor> inputs;
        for (const auto& port : model.inputs()) {
            inputs.push_back(given(feed.at(port.get_any_name())));
        }
        const auto tensors = asking(asked, "run", [&] {
            for (std::size_t number = 0; number < inputs.size(); ++number) {
                request.set_input_tensor(number, inputs[number]);
            }
            request.infer();
            std::vector<ov::Tensor> results;
            for (const auto& port : model.outputs()) {
                results.push_back(request.get_tensor(port));
            }
            return results;
        });
        Outputs outputs;
        std::transform(tensors.begin(), tensors.end(), std::back_inserter(outputs), returned);
        return outputs;
    }

    ov::Core core_;
    std::string device_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& device) {
    return std::make_unique<OpenVINO>(device);
}

}  // namespace opconform
