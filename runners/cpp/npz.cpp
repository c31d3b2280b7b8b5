#include "npz.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <zip.h>

#include "npy.hpp"

namespace opconform {
namespace {

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct Close {
    void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Close>;

Archive opened(const std::filesystem::path& path, int flags) {
    int code = 0;
    Archive archive(zip_open(path.c_str(), flags, &code));
    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const std::string why = zip_error_strerror(&error);
        zip_error_fini(&error);
        throw std::runtime_error(path.string() + " cannot be opened: " + why);
    }
    return archive;
}

void check(bool done, const Archive& archive) {
    if (!done) {
        throw std::runtime_error(zip_strerror(archive.get()));
    }
}

std::vector<std::uint8_t> content_of(const Archive& archive, zip_uint64_t index, zip_uint64_t size) {
    Member member(zip_fopen_index(archive.get(), index, 0));
    check(member != nullptr, archive);
    std::vector<std::uint8_t> content(size);
    std::uint8_t beyond = 0;
    // libzip checks the checksum at the end of the member, so the end is read too.
    if (zip_fread(member.get(), content.data(), size) != static_cast<zip_int64_t>(size) ||
        zip_fread(member.get(), &beyond, 1) != 0) {
        throw std::runtime_error("a member is cut short or damaged");
    }
    return content;
}

/// The input whose array a member of the archive is.
const Input& input_of(const std::string& member, const std::vector<Input>& inputs) {
    const auto is_its = [&](const Input& each) { return each.name + ".npy" == member; };
    const auto found = std::find_if(inputs.begin(), inputs.end(), is_its);
    if (found == inputs.end()) {
        throw std::runtime_error("it contains " + member + ", which is not an input of the case");
    }
    return *found;
}

/// The tensors of an archive of that many bytes. Members are not compressed, so that no member is larger than the file,
/// whatever the directory says, and no memory is taken for what is not there.
Inputs tensors_of(const Archive& archive, zip_uint64_t bytes, const std::vector<Input>& inputs) {
    constexpr zip_uint64_t known = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    Inputs tensors;
    zip_uint64_t total = 0;
    const auto count = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t index = 0; index < count; ++index) {
        zip_stat_t member;
        check(zip_stat_index(archive.get(), index, 0, &member) == 0, archive);
        if ((member.valid & known) != known || member.comp_method != ZIP_CM_STORE || member.comp_size != member.size) {
            throw std::runtime_error("it contains a member that is compressed");
        }
        if (member.size > bytes - total) {
            throw std::runtime_error("its directory names more bytes than it has");
        }
        total += member.size;
        const auto& input = input_of(member.name, inputs);
        tensors[input.name] = tensor_of_npy(content_of(archive, index, member.size), input.element_type);
    }
    return tensors;
}

/// An archive without members, for which libzip writes no file.
void write_empty(const std::filesystem::path& path) {
    const std::string end_of_directory("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    std::ofstream file(path, std::ios::binary);
    file << end_of_directory;
    if (!file.flush()) {
        throw std::runtime_error(path.string() + " cannot be written");
    }
}

}  // namespace

Inputs read_npz(const std::filesystem::path& path, const std::vector<Input>& inputs) {
    const auto archive = opened(path, ZIP_RDONLY | ZIP_CHECKCONS);
    try {
        return tensors_of(archive, std::filesystem::file_size(path), inputs);
    } catch (const std::runtime_error& fault) {
        throw std::runtime_error(path.string() + " cannot be read: " + fault.what());
    }
}

void write_npz(const std::filesystem::path& path, const Outputs& outputs) {
    if (outputs.empty()) {
        return write_empty(path);
    }
    std::vector<std::vector<std::uint8_t>> files;  // libzip reads them when the archive is closed
    std::transform(outputs.begin(), outputs.end(), std::back_inserter(files), npy_of);
    auto archive = opened(path, ZIP_CREATE | ZIP_TRUNCATE);
    for (std::size_t number = 0; number < files.size(); ++number) {
        auto* source = zip_source_buffer(archive.get(), files[number].data(), files[number].size(), 0);
        check(source != nullptr, archive);
        const auto name = "output_" + std::to_string(number) + ".npy";
        const auto index = zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
        }
        check(index >= 0, archive);
        check(zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) == 0, archive);
    }
    check(zip_close(archive.get()) == 0, archive);
    archive.release();  // closing has freed it
}

}  // namespace opconform
