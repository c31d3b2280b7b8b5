/// The interface of a backend, which a file such as openvino.cpp implements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace opconform {

/// An array of one element type, in row-major order.
struct Tensor {
    std::string element_type;
    std::vector<std::size_t> shape;
    std::vector<std::uint8_t> bytes;  ///< Little-endian; types narrower than a byte have one element per byte.
    std::vector<std::string> texts;   ///< The elements of a string tensor in UTF-8, instead of bytes.
};

using Inputs = std::map<std::string, Tensor>;
using Outputs = std::vector<Tensor>;

/// What executed a case, if the backend reports it.
struct Placement {
    std::vector<std::string> devices;  ///< By the backend's own names.
    std::optional<int> threads;
};

/// The outputs of each feed, and what executed them.
struct PlacedOutputs {
    std::vector<Outputs> feeds;
    Placement placement;
};

/// One input of a case. A constant is part of the model and also among the inputs of a feed.
struct Input {
    std::string name;
    std::string element_type;
    std::string role;     ///< setting if its values decide what the operation does, else data
    std::string binding;  ///< constant or parameter

    /// The element types that the declaration of the operation under test allows here; empty for all.
    std::vector<std::string> allowed_types;
    std::string word;  ///< The word before the dot of the requirements on this input, as in `axis.element-type`.
};

/// The parts of case.json that a backend may need.
struct Case {
    std::string id;
    std::string op;        ///< The operation under test.
    nlohmann::json graph;  ///< The nodes and outputs, which the model of a dialect also contains.
    std::vector<Input> inputs;
};

/// A backend's description of itself.
struct Implementation {
    std::string name;
    std::string version;
    std::string device;
    std::string hardware;  ///< The device's full name; empty if the backend cannot report it.
    std::string driver;    ///< The device's driver or plugin with its version; empty if the backend cannot report it.
    std::vector<std::string> dialects;
    std::vector<std::string> element_types;
    std::vector<std::string> operations;  ///< Empty for a backend that takes all that its dialects can express.
    bool dynamic;
    std::vector<std::string> bindings;
    int packs = 1;  ///< How many cases the backend takes in one model.
};

/// Thrown if the backend rejects a case as invalid.
struct Rejected : std::runtime_error {
    Rejected(std::string stage, const std::string& message, std::optional<std::string> requirement = std::nullopt)
        : std::runtime_error(message), stage(std::move(stage)), requirement(std::move(requirement)) {}

    std::string stage;                       ///< build or run
    std::optional<std::string> requirement;  ///< The requirement that the message is about, if known.
};

/// Thrown if the backend does not implement what the case needs.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Executes cases. Any other exception is a failure of the harness.
class Backend {
public:
    virtual ~Backend() = default;

    virtual Implementation describe() const = 0;

    /// The outputs of each feed, in order, all from one built model.
    /// The model is empty for a backend that declares no dialects.
    /// Throws Unsupported if a device other than the named one executes the case.
    virtual PlacedOutputs run(const Case& asked, const std::filesystem::path& model,
                              const std::vector<Inputs>& feeds) = 0;
};

/// The backend on a device; an empty name is its default device. Throws std::exception if it cannot be used.
std::unique_ptr<Backend> make_backend(const std::string& device);

}  // namespace opconform
